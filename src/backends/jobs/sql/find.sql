-- Schemas that hold a `jobs` table of our design: by its columns, not by who made it. Those with our counters first, then in
-- the order of the search path. $1: this schema only.
select n.nspname::text as schema
from pg_catalog.pg_class c
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
where c.relname = 'jobs' and c.relkind in ('r', 'p') and ($1 is null or n.nspname = $1)
  and n.nspname not like 'pg\_temp\_%'
  and (select count(*) from pg_catalog.pg_attribute a
       where a.attrelid = c.oid and not a.attisdropped
         and a.attname in ('id', 'queue', 'status', 'priority', 'run_at', 'attempts', 'max_attempts', 'locked_by', 'lease_until')
      ) = 9
order by exists (select from pg_catalog.pg_class f where f.relnamespace = n.oid and f.relname = 'counter_fold') desc,
         array_position(pg_catalog.current_schemas(false), n.nspname), n.nspname
limit 1
