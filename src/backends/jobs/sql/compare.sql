-- What the counters show beside the rows themselves, at one moment and in one snapshot; a row for each queue where anything
-- differs. `attempts` and `times` are 0 or 1: the figures may add up and still stand at the wrong attempt or second. Reads every row.
with shown as materialized (
{core}
), moment as materialized (
  select {schema}.time_slot(s.at) as slot, case when f.floor > txid_snapshot_xmin(txid_current_snapshot()) then 0 else f.floor end as floor
  from (select at from shown limit 1) as s, {schema}.counter_fold f
), live as (
  select j.queue, j.status, j.attempts, j.max_attempts,
         {schema}.time_slot(case when j.status = 'queued' then j.run_at else j.lease_until end) as slot, count(*) as n
  from {schema}.jobs j where j.status in ('queued', 'running')
  group by 1, 2, 3, 4, 5
), real as (
  select l.queue,
         coalesce(sum(n) filter (where l.status = 'queued' and l.attempts < l.max_attempts and l.slot <= m.slot), 0) as ready,
         coalesce(sum(n) filter (where l.status = 'queued' and l.attempts < l.max_attempts and l.slot > m.slot), 0) as scheduled,
         coalesce(sum(n) filter (where l.status = 'queued' and l.attempts >= l.max_attempts), 0) as exhausted,
         coalesce(sum(n) filter (where l.status = 'running' and l.slot >= m.slot), 0) as running,
         coalesce(sum(n) filter (where l.status = 'running' and l.slot < m.slot), 0) as expired
  from live l, moment m group by l.queue
), dead as (
  select d.queue, count(*) as n from {schema}.dead_letter_jobs d group by d.queue
), waiting as materialized (
  select d.* from {schema}.counter_deltas d where d.status in ('queued', 'running') and d.txid >= (select floor from moment)
), attempts as (
  select distinct queue from (
    select queue, status, attempts, max_attempts, n from {schema}.job_counts
    union all select queue, status, attempts, max_attempts, n from waiting
    union all select queue, status, attempts, max_attempts, -n from live
  ) as parts group by queue, status, attempts, max_attempts having sum(n) <> 0
), times as (
  select distinct queue from (
    select queue, status, slot, n from {schema}.job_slots
    union all select queue, status, slot, n from waiting where status = 'running' or attempts < max_attempts
    union all select queue, status, slot, -n from live where status = 'running' or attempts < max_attempts
  ) as parts group by queue, status, slot having sum(n) <> 0
)
select coalesce(s.queue, r.queue, d.queue) as queue, f.figure, f.counted::bigint as counted, f.truth::bigint as truth
from (select * from shown where queue is not null) s
full join real r on r.queue = s.queue
full join dead d on d.queue = coalesce(s.queue, r.queue)
cross join lateral (values
  (1, 'ready', coalesce(s.ready, 0), coalesce(r.ready, 0)),
  (2, 'scheduled', coalesce(s.scheduled, 0), coalesce(r.scheduled, 0)),
  (3, 'running', coalesce(s.running, 0), coalesce(r.running, 0)),
  (4, 'expired', coalesce(s.expired, 0), coalesce(r.expired, 0)),
  (5, 'exhausted', coalesce(s.exhausted, 0), coalesce(r.exhausted, 0)),
  (6, 'dead', coalesce(s.dead_rows, 0), coalesce(d.n, 0)),
  (7, 'attempts', case when coalesce(s.queue, r.queue) in (select queue from attempts) then 1 else 0 end, 0),
  (8, 'times', case when coalesce(s.queue, r.queue) in (select queue from times) then 1 else 0 end, 0)
) as f (place, figure, counted, truth)
where f.counted <> f.truth
order by 1, f.place
