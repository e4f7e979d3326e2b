-- The core numbers of a frame where there are no counters: at most $1 queues, $2 rows in all, each list cut where its share ends.
-- Every part walks an index of the seed and stops; a part that was cut says so (`whole` is false).
with recursive clock as materialized (
  select clock_timestamp() as at
), names as ( -- one step an index entry: the next queue that has queued jobs
  (select j.queue, 1 as step from {schema}.jobs j where j.status = 'queued' order by j.queue limit 1)
  union all
  select (select j.queue from {schema}.jobs j where j.status = 'queued' and j.queue > n.queue order by j.queue limit 1), n.step + 1
  from names n where n.queue is not null and n.step < $1
), share as (
  select greatest(100, $2 / greatest(count(*), 1)) as rows from names where queue is not null
), queued as materialized (
  select n.queue, r.priority, r.run_at, r.attempts, r.max_attempts
  from names n
  cross join lateral (
    select j.priority, j.run_at, j.attempts, j.max_attempts from {schema}.jobs j
    where j.queue = n.queue and j.status = 'queued'
    order by j.priority desc, j.run_at limit (select rows + 1 from share)) as r
  where n.queue is not null
), running as materialized ( -- soonest end first, so what is cut off runs longest
  select j.queue, j.attempts, j.max_attempts, j.lease_until from {schema}.jobs j
  where j.status = 'running' order by j.lease_until limit $2 + 1
), dead as materialized (
  {dead}
), priorities as ( -- for queues that were cut: the highest priorities, one step each
  select q.queue, max(q.priority) as priority, 1 as step from queued q
  group by q.queue having count(*) > (select rows from share)
  union all
  select p.queue, (
    select j.priority from {schema}.jobs j where j.queue = p.queue and j.status = 'queued' and j.priority < p.priority
    order by j.priority desc limit 1), p.step + 1
  from priorities p where p.priority is not null and p.step < 10
), oldest_of_cut as (
  select p.queue, min(o.run_at) as run_at
  from priorities p
  cross join lateral (
    select r.run_at from (
      select j.run_at, j.attempts, j.max_attempts from {schema}.jobs j
      where j.queue = p.queue and j.status = 'queued' and j.priority = p.priority
      order by j.run_at limit 10) as r
    where r.attempts < r.max_attempts and r.run_at <= (select at from clock)) as o
  group by p.queue
), live as (
  select queue, attempts, max_attempts,
         attempts < max_attempts and run_at <= (select at from clock) as ready,
         attempts < max_attempts and run_at > (select at from clock) as scheduled,
         attempts >= max_attempts as exhausted,
         false as running, false as expired, run_at
  from queued
  union all
  select queue, attempts, max_attempts, false, false, false,
         coalesce(lease_until >= (select at from clock), false), coalesce(lease_until < (select at from clock), true), null
  from running
), by_attempts as (
  select queue, attempts, count(*) as n, count(*) filter (where ready) as ready, count(*) filter (where scheduled) as scheduled,
         count(*) filter (where exhausted) as exhausted, count(*) filter (where running) as running,
         count(*) filter (where expired) as expired,
         count(*) filter (where ((ready or scheduled) and attempts = max_attempts - 1)
                             or ((running or expired) and attempts >= max_attempts)) as last_attempt,
         max(max_attempts) as max_attempts, min(run_at) filter (where ready) as oldest
  from live group by queue, attempts
), states as (
  select queue, sum(ready)::bigint as ready, sum(scheduled)::bigint as scheduled, sum(exhausted)::bigint as exhausted,
         sum(running)::bigint as running, sum(expired)::bigint as expired, sum(last_attempt)::bigint as last_attempt,
         max(max_attempts) as max_attempts, min(oldest) as oldest,
         array_agg(attempts order by attempts) as attempts, array_agg(n order by attempts) as attempts_jobs
  from by_attempts group by queue
), dead_of as (
  select queue, count(*) as n from dead group by queue
)
select (select at from clock) as at, ({reaper}) as reaper_last, q.queue, p.paused,
       coalesce(s.ready, 0) as ready, coalesce(s.scheduled, 0) as scheduled, coalesce(s.exhausted, 0) as exhausted,
       coalesce(s.running, 0) as running, coalesce(s.expired, 0) as expired, coalesce(s.last_attempt, 0) as last_attempt,
       s.max_attempts, s.attempts, s.attempts_jobs,
       case when c.queue is null then s.oldest else least(s.oldest, o.run_at) end as oldest,
       c.queue is null as whole,
       (select count(*) <= $2 from running) as running_whole,
       coalesce(d.n, 0) as dead_rows, (select count(*) <= $2 from dead) as dead_whole
from (select true) as always
left join (
  select queue from names where queue is not null union select queue from running union select queue from dead
) as q on true
left join states s on s.queue = q.queue
left join (select queue from queued group by queue having count(*) > (select rows from share)) as c on c.queue = q.queue
left join oldest_of_cut o on o.queue = q.queue
left join dead_of d on d.queue = q.queue
left join ({paused}) as p on p.queue = q.queue
