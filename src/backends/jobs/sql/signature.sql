-- The coarse form of our error_signature(), for tables without it: the first line without ids, quoted values and numbers. It
-- costs a fifth of the full one, and here it is worked out again at every reading.
left(regexp_replace(regexp_replace(regexp_replace(regexp_replace(
  split_part(left(ltrim(last_error, E' \t\r\n'), 500), E'\n', 1),
  '[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}', '<id>', 'g'),
  '"[^"]*"|''[^'']*''', '<v>', 'g'), '\m(0x)?[0-9a-fA-F]{8,}\M', '<id>', 'g'), '[0-9]+', '<n>', 'g'), 200)
