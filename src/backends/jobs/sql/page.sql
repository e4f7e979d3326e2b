-- A page of a list: at most $3 rows are looked at, in the order of an index; those that match are given, at most $4, and the last
-- row looked at, so that the next page can go on behind it.
with looked as materialized (
  select * from (
    {branches}
  ) as parts
  order by {order} limit $3
), numbered as (
  select *, row_number() over (order by {order}) as nr, count(*) over () as looked from looked
)
select * from numbered where matches or nr = looked order by nr limit $4
