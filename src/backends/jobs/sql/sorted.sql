-- The first {window} rows of a list, sorted: a page of {rows} of them. What is sorted is narrow; the rows are fetched by id.
with looked as materialized (
  select * from (
    {branches}
  ) l
  limit {window}
), page as (
  select l.*, row_number() over (order by l.sorted{direction}, l.id{direction}) = 1 as at_top
  from looked l where l.matches{behind} order by l.sorted{direction}, l.id{direction} limit {rows}
), sums as (
  select count(*) as looked, count(*) filter (where l.matches is null) as unseen from looked l
)
select case when r.at_top is distinct from false then s.looked end as looked,
       case when r.at_top is distinct from false then s.unseen end as unseen, r.*
from sums s
left join (
  select {row}, {error}, p.sorted, p.at_top from page p cross join lateral (
    {rows_of_page}
  ) j
) r on true
order by r.sorted{direction}, r.id{direction}
