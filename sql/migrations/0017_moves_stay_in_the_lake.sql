-- The moves of every candidate are large, and nothing asked for them here: they stay in the lake, those of what is advised
-- in advice_move. The view is made again after the migrations.

DROP VIEW IF EXISTS strategy_scoreboard;

ALTER TABLE candidate DROP COLUMN moved;
