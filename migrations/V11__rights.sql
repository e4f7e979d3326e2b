-- Who may do what. Three group roles (NOLOGIN; grant them to login roles):
--
--   queue_viewer     reads everything, changes nothing
--   queue_worker     calls the workers' functions; reads nothing by itself
--   queue_operator   reads everything, and calls the operators' functions and the reaper
--
-- PUBLIC and, where they exist, the API roles anon and authenticated get nothing. Plain statements on
-- the tables are for the owner, and for roles with BYPASSRLS that were granted them (service_role).
-- Row level security is on, never forced: a second lock, should somebody grant a table by mistake.

-- Roles belong to the whole server: another database may have made them, or may be making them now.
do $queuetop$
declare
  v_role text;
begin
  foreach v_role in array array[{viewer_literal}, {worker_literal}, {operator_literal}] loop
    if exists (select from pg_catalog.pg_roles r where r.rolname = v_role) then
      continue;
    end if;
    begin
      execute format('create role %I nologin', v_role);
    exception
      when duplicate_object or unique_violation then
        null;
      when insufficient_privilege then
        raise exception 'role % is missing and % may not create roles', quote_ident(v_role), current_user
          using errcode = '42501',
          hint = format(
            'let somebody with CREATEROLE run: create role %I nologin; create role %I nologin; create role %I nologin; then migrate again',
            {viewer_literal}, {worker_literal}, {operator_literal});
    end;
  end loop;
end
$queuetop$;

insert into {schema}.queue_settings (name, value) values ('role_prefix', {role_prefix_literal})
on conflict (name) do update set value = excluded.value;

-- The tables that are ours. Named, because the schema may hold other people's.
create function {schema}.queuetop_tables() returns text[]
language sql immutable
as $queuetop$
  select array[
    'jobs', 'dead_letter_jobs', 'job_failures', 'operator_actions', 'queues', 'workers',
    'maintenance_runs', 'queue_settings', 'queuetop_migrations',
    'counter_deltas', 'job_counts', 'job_slots', 'queue_counters', 'queue_history', 'history_minutes',
    'counter_fold'
  ]
$queuetop$;

-- The functions that are ours, and which role calls them: viewer, worker, operator, worker and
-- operator, everybody who reads, or only other functions.
create function {schema}.queuetop_functions() returns table (name text, callers text[])
language sql immutable
as $queuetop$
  values
    ('enqueue_job', array['worker', 'operator']),
    ('enqueue_jobs', array['worker', 'operator']),
    ('claim_jobs', array['worker']),
    ('heartbeat_jobs', array['worker']),
    ('complete_job', array['worker']),
    ('retry_job', array['worker']),
    ('move_to_dead_letter', array['worker']),
    ('worker_seen', array['worker']),
    ('reap_expired_jobs', array['worker', 'operator']),
    ('operator_requeue', array['operator']),
    ('operator_dead_letter', array['operator']),
    ('operator_reap', array['operator']),
    ('operator_replay', array['operator']),
    ('operator_reschedule', array['operator']),
    ('operator_set_priority', array['operator']),
    ('operator_undo', array['operator']),
    ('pause_queue', array['operator']),
    ('resume_queue', array['operator']),
    ('prune_completed_jobs', array['operator']),
    ('prune_dead_letters', array['operator']),
    ('prune_history', array['operator']),
    ('recount_counters', array['operator']),
    ('fold_counters_step', array['worker', 'operator']),
    ('job_state', array['viewer', 'operator']),
    ('error_signature', array['viewer', 'operator']),
    ('counter_drift', array['viewer', 'operator']),
    ('counter_floor', array['viewer', 'operator']),
    ('time_slot', array['viewer', 'operator']),
    ('duration_bucket', array['viewer', 'operator']),
    ('add_buckets', array['viewer', 'operator']),
    ('setting_number', array['viewer', 'operator']),
    ('queuetop_apply_rights', '{}'), ('queuetop_tables', '{}'), ('queuetop_functions', '{}'),
    ('check_between', '{}'), ('check_given', '{}'), ('check_lease', '{}'), ('check_queue', '{}'),
    ('check_jobs', '{}'), ('check_age', '{}'), ('operator_check_distinct', '{}'),
    ('record_failure', '{}'), ('note_claim', '{}'), ('sign_dead_letter', '{}'),
    ('note_maintenance', '{}'), ('note_fenced', '{}'), ('move_rows_to_dead_letter', '{}'),
    ('reap_rows', '{}'), ('job_record', '{}'), ('dead_letter_record', '{}'), ('operator_targets', '{}'),
    ('operator_fence_holds', '{}'), ('operator_refusal', '{}'), ('operator_lock', '{}'), ('operator_look', '{}'),
    ('operator_chosen', '{}'), ('operator_finish', '{}'), ('operator_record', '{}'), ('operator_look_undo', '{}'),
    ('operator_restore', '{}'), ('operator_set_paused', '{}'),
    ('count_jobs_inserted', '{}'), ('count_jobs_deleted', '{}'), ('count_jobs_updated', '{}'),
    ('count_dead_letters', '{}'), ('count_failure', '{}'), ('count_truncated', '{}'),
    ('fold_deltas', '{}'), ('sample_depths', '{}'), ('notify_changed', '{}'),
    ('notify_queues_changed', '{}')
$queuetop$;

-- Gives and takes the rights. Every later migration calls it again at its end: in a schema shared
-- with others (public), default privileges may hand new objects to the API roles, and those defaults
-- are not ours to change. In a schema of our own they are, and PUBLIC cannot even see into it.
create function {schema}.queuetop_apply_rights() returns void
language plpgsql set search_path = pg_catalog, pg_temp
as $queuetop$
declare
  v_outsiders text := (
    select string_agg(o.name, ', ')
    from (
      select 'public' as name
      union all
      select quote_ident(r.rolname) from pg_roles r where r.rolname in ('anon', 'authenticated')
    ) o
  );
  v_roles constant jsonb := jsonb_build_object(
    'viewer', {viewer_literal}, 'worker', {worker_literal}, 'operator', {operator_literal});
  v_object record;
  v_caller text;
begin
  execute format('grant usage on schema %I to %I, %I, %I', {schema_literal},
    {viewer_literal}, {worker_literal}, {operator_literal});

  for v_object in
    select format('%I.%I', n.nspname, c.relname) as name, c.relkind, c.relrowsecurity, c.oid
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    left join pg_depend d on d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype in ('a', 'i')
    left join pg_class owner on owner.oid = d.refobjid
    where n.nspname = {schema_literal}
      and (c.relkind = 'r' and c.relname = any({schema}.queuetop_tables())
        or c.relkind = 'S' and (c.relname in ('fold_clock', 'notify_clock')
          or owner.relname = any({schema}.queuetop_tables())))
  loop
    execute format('revoke all on %s %s from %s',
      case v_object.relkind when 'S' then 'sequence' else 'table' end, v_object.name, v_outsiders);
    if v_object.relkind = 'r' then
      if not v_object.relrowsecurity then
        execute format('alter table %s enable row level security', v_object.name);
      end if;
      execute format('grant select on %s to %I, %I', v_object.name, {viewer_literal}, {operator_literal});
      if not exists (select from pg_policy p where p.polrelid = v_object.oid and p.polname = 'queuetop_read') then
        execute format('create policy queuetop_read on %s for select to %I, %I using (true)',
          v_object.name, {viewer_literal}, {operator_literal});
      end if;
    end if;
  end loop;

  for v_object in
    select format('%I.%I(%s)', n.nspname, p.proname, pg_get_function_identity_arguments(p.oid)) as name, f.callers
    from pg_proc p
    join pg_namespace n on n.oid = p.pronamespace
    join {schema}.queuetop_functions() f on f.name = p.proname
    where n.nspname = {schema_literal}
  loop
    execute format('revoke all on function %s from %s', v_object.name, v_outsiders);
    foreach v_caller in array v_object.callers loop
      execute format('grant execute on function %s to %I', v_object.name, v_roles ->> v_caller);
    end loop;
  end loop;

  if {schema_literal} <> 'public' and not exists (
    select
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = {schema_literal} and c.relkind in ('r', 'p', 'v', 'm', 'f')
      and c.relname <> all({schema}.queuetop_tables())
  ) then
    execute format('revoke all on schema %I from %s', {schema_literal}, v_outsiders);
    execute format('alter default privileges in schema %I revoke all on tables from %s', {schema_literal}, v_outsiders);
    execute format('alter default privileges in schema %I revoke all on sequences from %s', {schema_literal}, v_outsiders);
    execute format('alter default privileges in schema %I revoke all on functions from %s', {schema_literal}, v_outsiders);
  end if;
end
$queuetop$;

select {schema}.queuetop_apply_rights();

-- Supabase's backend role: a worker that may also use plain statements.
do $queuetop$
begin
  if exists (select from pg_catalog.pg_roles r where r.rolname = 'service_role') then
    grant usage on schema {schema} to service_role;
    grant select, insert, update, delete on {schema}.jobs, {schema}.dead_letter_jobs to service_role;
    if not pg_catalog.pg_has_role('service_role', {worker_literal}, 'member') then
      grant {worker} to service_role;
    end if;
  end if;
exception
  when insufficient_privilege then
    raise warning 'service_role could not be made a member of %: %', {worker_literal}, sqlerrm;
  when duplicate_object or unique_violation then
    null; -- another database's migration did it in the same moment
end
$queuetop$;
