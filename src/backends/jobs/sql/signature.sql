-- As our error_signature() does: the first line without what differs from case to case.
left(regexp_replace(regexp_replace(regexp_replace(regexp_replace(
  split_part(left(ltrim(last_error, E' \t\r\n'), 500), E'\n', 1),
  '[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}', '<id>', 'g'),
  '"[^"]*"|''[^'']*''', '<v>', 'g'), '\m(0x)?[0-9a-fA-F]{8,}\M', '<id>', 'g'), '[0-9]+', '<n>', 'g'), 200)
