"""
The search behind `balanced`, one idea per file; read it in this order.

`problem` puts a group into canonical order, `counts` (with `thresholds`) finds every fairest count vector at once, and
`leeway` holds what they leave open. `share` and `flow` find the least cross-rack share and the fewest moves where lags
are left aside, `deal` gives that plan partitions. `floors` bounds the largest member lag from below; `level` (with
`subsets`), `pack` and `lowest` bring it down. `restrict` and `branch` find the cheapest assignment under that lag,
`refund` a cheaper one. `solve` runs them in order, `proof` says what came of it, `work` how much they may do.
"""
