-- A page of a list: rows are looked at in the order of an index until {rows} of them are shown or {window} were looked at. `last`:
-- the window ends with this row; `matches` is null: there was no time to look at it. Errors are cut of the shown rows only, and no
-- more of a large one is unpacked than its first thousand letters.
select {row}, {error}, j.key_at, j.place::text as place, j.matches, j.nr = {window} as last
from (
  select * from (
    select j.*, row_number() over () as nr from (
      select * from (
        {branches}
      ) j
      limit {window}
    ) j
  ) j
  where j.matches is distinct from false or j.nr = {window}
  limit {rows}
) j
order by j.nr
