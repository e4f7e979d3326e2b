-- Where the first lease ends, by the counters, or earlier: a search that begins there does not walk over the index entries of
-- leases that are over, which pile up while something holds vacuum back.
select coalesce(min(slot), '-infinity')
from (
  select (select s.slot from {schema}.job_slots s
          where s.queue = q.queue and s.status = 'running' and s.n > 0 order by s.slot limit 1) as slot
  from {schema}.queue_counters q
  union all
  select d.slot from {waiting} d
  where d.status = 'running' and d.n > 0
) as slots
