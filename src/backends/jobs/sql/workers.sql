-- Who holds running jobs, by the $1 leases that end first, and who registered lately: $2 of both at most. A lease without an end
-- is over.
with leases as materialized (
  (select j.locked_by, j.queue, j.lease_until, {claimed} as claimed_at, j.updated_at from {schema}.jobs j
   where j.status = 'running' and j.lease_until is null limit $1)
  union all
  (select j.locked_by, j.queue, j.lease_until, {claimed} as claimed_at, j.updated_at from {schema}.jobs j
   where j.status = 'running' and j.lease_until >= ({from}) order by j.lease_until limit $1)
), holders as (
  select locked_by as id, count(*) as held,
         count(*) filter (where lease_until is null or lease_until < now()) as expired,
         max(updated_at) as last_heartbeat, min(claimed_at) as oldest_claim,
         min(coalesce(lease_until, '-infinity')) as first_end,
         max(date_part('epoch', lease_until - updated_at)) filter (where isfinite(lease_until) and isfinite(updated_at)) as lease_s,
         (array_agg(distinct queue))[1:8] as queues
  from leases group by locked_by
), registered as (
  {registered}
)
select h.held is not null as holds, coalesce(h.id::text, r.id::text) as id, r.name, r.host, r.pid, r.version, r.last_seen,
       coalesce(h.held, 0) as held, coalesce(h.expired, 0) as expired, h.last_heartbeat, h.oldest_claim, h.first_end,
       h.lease_s, h.queues, (select count(*) >= $1 from leases) as leases_cut
from holders h full join registered r on r.id = h.id
order by h.expired desc nulls last, h.last_heartbeat nulls last, r.last_seen desc
limit $2
