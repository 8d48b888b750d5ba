-- How a user gets a strategy has the word of the field.

ALTER TABLE candidate RENAME COLUMN reach TO deployment;
