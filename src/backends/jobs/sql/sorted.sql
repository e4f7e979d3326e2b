-- The first {window} rows of a list, sorted: a page of {rows} of them. What is sorted is narrow; the rows are fetched by id.
with looked as materialized (
  select * from (
    {branches}
  ) l
  limit {window}
), page as (
  select * from looked l where l.matches{behind} order by l.sorted{direction}, l.id{direction} limit {rows}
), sums as (
  select count(*) as looked, count(*) filter (where l.matches is null) as unseen from looked l
)
select s.looked, s.unseen, r.*
from sums s
left join (
  select {row}, {error}, p.sorted from page p cross join lateral (
    {rows_of_page}
  ) j
) r on true
order by r.sorted{direction}, r.id{direction}
