-- How jobs were handled since $1, from the minutes that folding keeps; and per queue the minute of the next hour in which most
-- waiting jobs come due. What is not folded yet (two seconds or so) is left out.
with minutes as materialized (
  select queue, durations, claimed, claims from {schema}.queue_history where minute >= $1
), counted as (
  select queue, sum(claimed)::bigint as claimed, sum(claims)::bigint as claims from minutes group by queue
), buckets as (
  select queue, array_agg(n order by i) as durations
  from (
    select m.queue, u.i, sum(u.n)::bigint as n
    from minutes m cross join lateral unnest(m.durations) with ordinality as u (n, i) group by m.queue, u.i
  ) as sums
  group by queue
), waves as (
  select distinct on (queue) queue, minute, n
  from (
    select queue, to_timestamp(floor(date_part('epoch', slot) / 60) * 60) as minute, sum(n)::bigint as n
    from {schema}.job_slots
    where slot > now() and slot <= now() + interval '1 hour' and status = 'queued' and n > 0
    group by 1, 2
  ) as due
  order by queue, n desc, minute
)
select coalesce(c.queue, w.queue) as queue, c.claimed, c.claims, b.durations, w.minute as wave_at, w.n as wave_jobs
from counted c
left join buckets b on b.queue = c.queue
full join waves w on w.queue = c.queue
