-- The queue itself: `jobs` and `dead_letter_jobs`.
--
-- Tokens in these files ({schema} and the role names) are replaced by quoted names before a file is
-- hashed and run, so one file serves every schema. Everything is qualified: nothing here depends on
-- the search_path of whoever installs or calls it.
--
-- A database that already has the two tables keeps them: what exists is left alone, what is missing
-- is added.

-- Values that an operator may change, with their defaults in the functions that read them. A row
-- here overrides a default.
create table if not exists {schema}.queue_settings (
  name text primary key,
  value text not null,
  changed_at timestamptz not null default now()
);

create table if not exists {schema}.jobs (
  id uuid primary key default gen_random_uuid(),
  queue text not null,
  payload jsonb not null,
  status text not null default 'queued'
    check (status in ('queued', 'running', 'completed')),
  priority integer not null default 0,
  run_at timestamptz not null default now(),
  attempts integer not null default 0 check (attempts >= 0),
  max_attempts integer not null default 8 check (max_attempts > 0),
  locked_by uuid,
  lease_until timestamptz,
  last_error text,
  idempotency_key text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  completed_at timestamptz
);

create table if not exists {schema}.dead_letter_jobs (
  id uuid primary key,
  queue text not null,
  payload jsonb not null,
  attempts integer not null,
  max_attempts integer not null,
  last_error text,
  failed_at timestamptz not null default now(),
  original_created_at timestamptz not null
);

-- Our columns, all nullable or with a constant default, so that adding them to a table with rows
-- rewrites nothing. Asked first: even a no-op `add column if not exists` takes the strongest lock.
do $queuetop$
declare
  v_column record;
begin
  for v_column in
    select *
    from (values
      -- when the present (or last) attempt began
      ('jobs', 'claimed_at', 'timestamptz'),
      -- a replayed job's first ancestor, and the key that ancestor had: a handler that uses the id as
      -- its idempotency key towards other services finds the id to use here
      ('jobs', 'replay_of', 'uuid'),
      ('jobs', 'origin_key', 'text'),
      -- what a replay needs; null where the row was not moved by our functions and nobody knows
      ('dead_letter_jobs', 'priority', 'integer'),
      ('dead_letter_jobs', 'idempotency_key', 'text'),
      ('dead_letter_jobs', 'replay_of', 'uuid'),
      ('dead_letter_jobs', 'origin_key', 'text'),
      -- exhausted, permanent, expired, unclaimable, or operator with the operator's words
      ('dead_letter_jobs', 'reason', 'text'),
      -- the error with its variable parts taken out, to group by
      ('dead_letter_jobs', 'signature', 'text'),
      ('dead_letter_jobs', 'replayed_at', 'timestamptz'),
      ('dead_letter_jobs', 'replayed_job_id', 'uuid'),
      ('dead_letter_jobs', 'replays', 'integer not null default 0')
    ) as wanted (table_name, column_name, definition)
    where not exists (
      select
      from pg_catalog.pg_attribute a
      join pg_catalog.pg_class c on c.oid = a.attrelid
      join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      where n.nspname = {schema_literal}
        and c.relname = wanted.table_name
        and a.attname = wanted.column_name
        and not a.attisdropped
    )
  loop
    execute format(
      'alter table %I.%I add column %I %s',
      {schema_literal}, v_column.table_name, v_column.column_name, v_column.definition
    );
  end loop;
end
$queuetop$;

create unique index if not exists jobs_queue_idempotency_key_uq
  on {schema}.jobs (queue, idempotency_key)
  where idempotency_key is not null;

create index if not exists jobs_claim_ready_idx
  on {schema}.jobs (queue, priority desc, run_at, created_at)
  where status = 'queued';

create index if not exists jobs_expired_lease_idx
  on {schema}.jobs (lease_until)
  where status = 'running';

-- The index that claims walk. It differs from jobs_claim_ready_idx in leaving out exhausted rows
-- (attempts used up, still queued): a claim would otherwise read past every one of them each time.
create index if not exists jobs_claimable_idx
  on {schema}.jobs (queue, priority desc, run_at, created_at)
  where status = 'queued' and attempts < max_attempts;

-- The exhausted rows, for the reaper. Normally empty, so it costs writers one comparison.
create index if not exists jobs_exhausted_idx
  on {schema}.jobs (run_at)
  where status = 'queued' and attempts >= max_attempts;

-- For pruning by age: the new entries always go to the right edge, the cheapest place of a B-tree.
create index if not exists jobs_completed_idx
  on {schema}.jobs (completed_at)
  where status = 'completed';

create index if not exists dead_letter_jobs_failed_at_idx
  on {schema}.dead_letter_jobs (failed_at);

create index if not exists dead_letter_jobs_queue_idx
  on {schema}.dead_letter_jobs (queue, failed_at);

-- Every job leaves at least two dead row versions (claim, complete), none of them HOT because the
-- status decides which partial indexes hold the row; a lower fillfactor would buy nothing. What
-- counts is that vacuum comes often, so that claims do not step over dead index entries: at 2 % (the
-- default is 20 %) and without pausing between pages, since the pages are in cache. Settings that
-- somebody made before us stay.
do $queuetop$
begin
  if (select c.reloptions is null from pg_catalog.pg_class c
      join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      where n.nspname = {schema_literal} and c.relname = 'jobs') then
    alter table {schema}.jobs set (
      autovacuum_vacuum_scale_factor = 0.02,
      autovacuum_vacuum_threshold = 1000,
      autovacuum_vacuum_insert_scale_factor = 0.05,
      autovacuum_analyze_scale_factor = 0.02,
      autovacuum_vacuum_cost_delay = 0
    );
  end if;
end
$queuetop$;
