-- Failures of the last hour ($1 of them at most, the latest), dead letters, and both by queue and error signature: the $2 that
-- count most. What is in `known` covers all dead letters where counts of them are kept, else those that were looked at.
with failures as materialized (
  {failures}
), deaths as materialized (
  {deaths}
), known as materialized (
  {known}
), looked as materialized (
  select f.failures_cut, f.failures_from, d.deaths_cut, d.deaths_from,
         least(greatest(now() - interval '1 hour', case when failures_cut then failures_from end, case when deaths_cut then deaths_from end),
               now() - interval '1 second') as since,
         least(greatest(now() - interval '15 minutes', case when failures_cut then failures_from end), now() - interval '1 second') as recent
  from (select count(*) >= $1 as failures_cut, min(at) as failures_from from failures) as f,
       (select count(*) >= $1 as deaths_cut, min(at) as deaths_from from deaths) as d
), events as ( -- an attempt that died counts once in the trend: as a dead letter
  select queue, signature, at, became = 'queued' as retried, true as failed, became is distinct from 'dead' as counts from failures
  union all
  select queue, signature, at, false, false, true from deaths
), spans as (
  select queue, coalesce(signature, '') as signature,
         case when at >= since then least(width_bucket(date_part('epoch', at), date_part('epoch', since), date_part('epoch', now()), 12), 12) end as span,
         count(*) filter (where counts) as n,
         count(*) filter (where failed and at > recent) as failed,
         count(*) filter (where retried and at > recent) as retried,
         min(at) as first_seen, max(at) as last_seen
  from events, looked group by 1, 2, 3
), seen as (
  select queue, signature, sum(failed)::bigint as failed, sum(retried)::bigint as retried, min(first_seen) as first_seen, max(last_seen) as last_seen,
         array_agg(span) filter (where span is not null) as spans, array_agg(n) filter (where span is not null) as counts
  from spans group by queue, signature
), groups as (
  select queue, signature, coalesce(s.failed, 0) as failed, coalesce(s.retried, 0) as retried,
         coalesce(k.dead, 0) as dead, coalesce(k.replayed, 0) as replayed,
         least(k.first_seen, s.first_seen) as first_seen, greatest(k.last_seen, s.last_seen) as last_seen, s.spans, s.counts
  from known k full join seen s using (queue, signature)
)
select l.*, date_part('epoch', now() - l.since) as trend_s, date_part('epoch', now() - l.recent) as recent_s,
       (select count(*) from groups) as found, (select sum(dead)::bigint from known) as dead_rows,
       ({counted}) as counted, ({suspect}) as suspect, ({kept_cut}) as kept_cut, g.*
from looked l left join (select * from groups order by failed desc, dead desc, last_seen desc limit $2) as g on true
