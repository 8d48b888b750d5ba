(() => {
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
for (const g of data.groups) g.due = g.due.map(seconds => seconds + data.start);
const worst = data.width > 1 ? ", maximum of " + data.width + " snapshots per point" : "";
const groups = [...document.querySelectorAll(".group")];
const color = name => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
const utc = seconds => new Date(seconds * 1000).toISOString();
const two = (amount, size, big, small) => {
  const rest = Math.round((amount % size) / (size / (size === 86400 ? 24 : 60)));
  return Math.floor(amount / size) + " " + big + (rest ? " " + rest + " " + small : "");
};
const duration = s => s == null ? "?" : s < 60 ? +s.toFixed(s < 10 ? 1 : 0) + " s"
  : s < 3600 ? two(s, 60, "min", "s") : s < 86400 ? two(s, 3600, "h", "min") : two(s, 86400, "d", "h");
const spans = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 345600, 864000, 2592000];
const read = say => (plot, v, series, at) => at == null ? "" : say(v);
const whole = n => n == null ? "?" : Math.round(n).toLocaleString("en-US");
const short = n => n >= 1e9 ? +(n / 1e9).toPrecision(3) + "G" : n >= 1e6 ? +(n / 1e6).toPrecision(3) + "M"
  : n >= 1e4 ? +(n / 1e3).toPrecision(3) + "k" : +n.toPrecision(3);
const moments = (plot, splits) => splits.map((s, i) => {
  const text = utc(s), wide = splits.length > 1 && splits[1] - splits[0] >= 86400;
  const day = text.slice(5, 10), time = text.slice(11, 16);
  return wide ? day : i === 0 || time === "00:00" ? time + "\n" + day : time;
});
const legendTime = {label: "UTC", class: "hovered", value: (plot, s) => s == null ? "" : utc(s).slice(5, 16).replace("T", " ")};
const axis = more => ({stroke: color("quiet"), grid: {stroke: color("grid"), width: 1},
  ticks: {stroke: color("grid"), width: 1}, font: "12px system-ui, sans-serif", ...more});
const SEVERITY = {critical: "bad", warning: "poor", resolved: "well"};

function marks(list) {
  return {hooks: {draw: plot => {
    const {ctx, bbox} = plot;
    ctx.save();
    for (const [at, , severity] of list) {
      const x = Math.round(plot.valToPos(at, "x", true));
      if (x < bbox.left || x > bbox.left + bbox.width) continue;
      ctx.strokeStyle = ctx.fillStyle = color(SEVERITY[severity] || "advice");
      ctx.lineWidth = devicePixelRatio;
      ctx.setLineDash([4, 3]);
      ctx.beginPath(); ctx.moveTo(x, bbox.top); ctx.lineTo(x, bbox.top + bbox.height); ctx.stroke();
      ctx.beginPath(); ctx.arc(x, bbox.top + 4, 4 * devicePixelRatio, 0, 7); ctx.fill();
    }
    ctx.restore();
  }}};
}
const line = (name, times) => ({stroke: color(name), width: 2,
  points: {show: times.length < 40, size: 5, stroke: color(name), fill: color(name)}});
const some = list => list.some(v => v != null);
const upwards = (plot, low, high) => [0, high > 0 ? high * 1.08 : 1];

function lagChart(box, g) {
  const joined = uPlot.join([[data.times, g.lag], [g.due, g.low, g.high, g.expected]]);
  const between = {class: "hovered", width: 0, stroke: "transparent", points: {show: false}};
  const ends = joined[0];
  return new uPlot({
    title: "Lag (offsets) and its forecast from 15 min before" + worst, width: box.clientWidth, height: 240,
    cursor: {sync: {key: box.parentNode.parentNode.id}, hover: {prox: 12}}, plugins: [marks(g.marks)],
    scales: {x: {range: [ends[0], ends[ends.length - 1] + 1]}, y: {range: upwards}},
    axes: [axis({values: moments, size: 46, space: 64}), axis({values: (u, v) => v.map(short), size: 78})],
    series: [legendTime,
      {label: "lag", value: read(whole), ...line("lag", joined[0])},
      {label: "p10", value: read(whole), ...between},
      {label: "p90", value: read(whole), ...between},
      {label: "forecast (p50)", stroke: color("expected"), dash: [5, 4], width: 1.5, value: read(whole), points: {show: false}}],
    bands: [{series: [3, 2], fill: color("band")}],
  }, joined, box);
}
function ageChart(box, g) {
  return new uPlot({
    title: "Time lag and time behind" + worst, width: box.clientWidth, height: 180,
    cursor: {sync: {key: box.parentNode.parentNode.id}}, plugins: [marks(g.marks)],
    scales: {x: {range: [data.times[0], Math.max(data.times[data.times.length - 1], ...g.due) + 1]}, y: {range: upwards}},
    axes: [axis({values: moments, size: 46, space: 64}), axis({values: (u, v) => v.map(duration), incrs: spans, size: 78})],
    series: [legendTime,
      {label: "time lag", value: read(duration), ...line("age", data.times)},
      {label: "time behind (beyond commits)", value: read(duration), ...line("poor", data.times)}],
  }, [data.times, g.age, g.delay], box);
}
function sparkline(box) {
  const g = data.groups[box.dataset.s];
  if (!some(g.lag)) return;
  box.plot = new uPlot({
    width: box.clientWidth, height: box.clientHeight, cursor: {show: false}, legend: {show: false},
    padding: [2, 2, 2, 2], axes: [{show: false}, {show: false}], scales: {y: {range: upwards}},
    series: [{}, {stroke: color("lag"), width: 1.5, fill: color("band"), points: {show: false}}],
  }, [data.times, g.lag], box);
}
function charts(group) {
  const g = data.groups[+group.id.slice(1)];
  for (const box of group.querySelectorAll(".chart")) {
    if (box.plot) box.plot.destroy();
    box.plot = null;
    const age = box.dataset.c === "age";
    const known = age ? some(g.age) || some(g.delay) : some(g.lag) || g.due.length;
    if (known) box.plot = (age ? ageChart : lagChart)(box, g);
    else box.textContent = age ? "Time lag and time behind are unknown." : "Lag is unknown.";
  }
}
const seen = new IntersectionObserver(entries => {
  for (const {target, isIntersecting} of entries) {
    if (isIntersecting && !target.plot) sparkline(target);
    else if (!isIntersecting && target.plot) { target.plot.destroy(); target.plot = null; }
  }
}, {rootMargin: "300px"});
document.querySelectorAll(".spark").forEach(box => seen.observe(box));
groups.forEach(group => group.addEventListener("toggle", () => {
  if (!group.open) return;
  charts(group);
  if (groups.length > 1) history.replaceState(null, "", "#" + group.id);
}));
function again() {
  document.querySelectorAll(".spark").forEach(box => {
    if (box.plot) { box.plot.destroy(); box.plot = null; sparkline(box); }
  });
  groups.filter(group => group.open).forEach(charts);
}
let width = innerWidth, waiting = 0;
addEventListener("resize", () => {
  if (innerWidth === width) return;
  width = innerWidth; clearTimeout(waiting); waiting = setTimeout(again, 150);
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
function followTheme(frame) {
  const rule = [...document.styleSheets].flatMap(sheet => [...sheet.cssRules])
    .find(one => one.media && one.media.mediaText.includes("prefers-color-scheme"));
  const dress = () => {
    const theme = ["dark", "light"].find(name => frame.classList.contains(name));
    if (!theme) return;
    rule.media.mediaText = theme === "dark" ? "all" : "not all";
    document.documentElement.style.colorScheme = theme;
    again();
  };
  new MutationObserver(dress).observe(frame, {attributeFilter: ["class"]});
  dress();
}
// follow the theme of Airflow; access to a cross-origin frame throws
if (parent !== window) try { followTheme(parent.document.documentElement); } catch (refused) { void refused; }

const search = document.getElementById("search"), left = document.getElementById("left");
const chips = [...document.querySelectorAll("#filters button")];
const names = groups.map(group => group.querySelector(".who").textContent.toLowerCase());
function filter() {
  const wanted = search.value.trim().toLowerCase();
  const picked = new Set(chips.filter(c => c.getAttribute("aria-pressed") === "true").map(c => c.dataset.d));
  let count = 0;
  groups.forEach((group, i) => {
    group.hidden = !(names[i].includes(wanted) && (!picked.size || picked.has(group.dataset.d)));
    count += !group.hidden;
  });
  left.textContent = wanted || picked.size ? count + " of " + groups.length : "";
}
search.addEventListener("input", filter);
chips.forEach(chip => chip.addEventListener("click", () => {
  chip.setAttribute("aria-pressed", chip.getAttribute("aria-pressed") !== "true");
  filter();
}));
function go() {
  const group = /^#g\d+$/.test(location.hash) && document.getElementById(location.hash.slice(1));
  if (group) { group.open = true; group.scrollIntoView(); }
}
addEventListener("hashchange", go);
go();
groups.filter(group => group.open).forEach(charts);
})();
