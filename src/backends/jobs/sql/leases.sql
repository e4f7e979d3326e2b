-- Leases, soonest end first, at most $1; a lease without an end counts as past.
select * from (
  (select {columns} from {schema}.jobs j where j.status = 'running' and j.lease_until is null limit $1)
  union all
  (select {columns} from {schema}.jobs j
   where j.status = 'running' and j.lease_until >= ({from}) order by j.lease_until limit $1)
) as leases
order by lease_until nulls first, id
limit $1
