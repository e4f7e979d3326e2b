-- Failures of the last 15 minutes ($1 of them at most, latest first) and the latest $1 dead letters, by error signature and queue.
with recent as materialized (
  {recent}
), dead as materialized (
  {dead}
), together as (
  select queue, signature, count(*) filter (where became is distinct from 'dead') as n, 0::bigint as dead,
         count(*) filter (where became = 'queued') as retried, 0::bigint as died, max(ended_at) as last_seen
  from recent group by queue, signature
  union all
  select queue, signature, count(*), count(*), 0, count(*) filter (where failed_at > now() - interval '15 minutes'), max(failed_at)
  from dead group by queue, signature
), signatures as (
  select queue, coalesce(signature, '') as signature, sum(n)::bigint as n, sum(dead)::bigint as dead,
         sum(retried)::float8 / 900 as retried_per_s, sum(died)::float8 / 900 as dead_per_s, max(last_seen) as last_seen
  from together group by queue, coalesce(signature, '') order by 3 desc, 6 desc limit 100
)
select (select count(*) from recent) as failed, (select count(*) >= $1 from recent) as failed_cut,
       (select count(*) from dead where failed_at > now() - interval '1 hour') as dead_1h,
       (select count(*) >= $1 from dead) as dead_cut,
       (select count(*) >= $1 and min(failed_at) > now() - interval '1 hour' from dead) as dead_1h_cut,
       s.*
from (select true) as always left join signatures s on true
