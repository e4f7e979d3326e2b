-- What operators call. Every function takes the rows as the operator saw them (the fence), answers
-- for each of them, and writes one row into operator_actions in the same transaction.
--
--   outcome   done      changed as asked
--             changed   not what was seen any more: nothing was done, state_now says what it is
--             locked    somebody held the row for a whole second: nothing was done
--             gone      no such job
--             refused   the action makes no sense in this state; detail says why

-- A row's state in the dashboard's words.
create function {schema}.job_state(
  p_status text, p_run_at timestamptz, p_attempts integer, p_max_attempts integer, p_lease_until timestamptz
)
returns text
language sql stable
as $queuetop$
  select case
    when p_status = 'queued' and p_attempts >= p_max_attempts then 'exhausted'
    when p_status = 'queued' and p_run_at > pg_catalog.now() then 'scheduled'
    when p_status = 'queued' then 'ready'
    when p_status = 'running' and p_lease_until >= pg_catalog.now() then 'running'
    when p_status = 'running' then 'expired'
    else p_status
  end
$queuetop$;

-- A row without its payload, for the audit and for undo.
create function {schema}.job_record(p_job {schema}.jobs) returns jsonb
language sql stable
as $queuetop$
  select pg_catalog.jsonb_build_object(
    'id', p_job.id, 'queue', p_job.queue, 'status', p_job.status, 'priority', p_job.priority,
    'run_at', p_job.run_at, 'attempts', p_job.attempts, 'max_attempts', p_job.max_attempts,
    'locked_by', p_job.locked_by, 'lease_until', p_job.lease_until, 'last_error', p_job.last_error,
    'idempotency_key', p_job.idempotency_key, 'created_at', p_job.created_at,
    'updated_at', p_job.updated_at, 'completed_at', p_job.completed_at,
    'claimed_at', p_job.claimed_at, 'replay_of', p_job.replay_of, 'origin_key', p_job.origin_key
  )
$queuetop$;

-- Checks p_targets and takes it apart. Whatever is wrong is named by its place.
create function {schema}.operator_targets(p_targets jsonb)
returns table (ordinal integer, id uuid, seen jsonb)
language plpgsql stable rows 20 -- few: rows are to be looked up by id, never joined to the whole table
as $queuetop$
#variable_conflict use_column
declare
  v_target jsonb;
  v_at integer := 0;
  v_key text;
  v_known constant text[] :=
    array['id', 'status', 'attempts', 'locked_by', 'run_at', 'priority', 'lease_until'];
begin
  if p_targets is null or jsonb_typeof(p_targets) <> 'array' then
    raise exception 'p_targets must be an array of objects like {"id": ...}' using errcode = '22023';
  elsif jsonb_array_length(p_targets) > 10000 then
    raise exception 'p_targets has % targets, at most 10000 go in one call', jsonb_array_length(p_targets)
      using errcode = '22023';
  end if;
  for v_target in select value from jsonb_array_elements(p_targets) loop
    if jsonb_typeof(v_target) <> 'object' or v_target ->> 'id' is null then
      raise exception 'p_targets[%] must be an object with an id', v_at using errcode = '22023';
    end if;
    v_key := (select k from jsonb_object_keys(v_target) k where k <> all (v_known) limit 1);
    if v_key is not null then
      raise exception 'p_targets[%] has an unknown key %', v_at, quote_ident(left(v_key, 100))
        using errcode = '22023';
    end if;
    begin
      ordinal := v_at;
      v_key := 'id';
      id := (v_target ->> 'id')::uuid;
      v_key := 'attempts';
      perform (v_target ->> 'attempts')::integer;
      v_key := 'priority';
      perform (v_target ->> 'priority')::integer;
      v_key := 'locked_by';
      perform (v_target ->> 'locked_by')::uuid;
      v_key := 'run_at';
      perform (v_target ->> 'run_at')::timestamptz;
      v_key := 'lease_until';
      perform (v_target ->> 'lease_until')::timestamptz;
    exception when data_exception then
      raise exception 'p_targets[%].%: %', v_at, v_key, left(sqlerrm, 300) using errcode = '22023';
    end;
    if v_target ? 'status' and coalesce(v_target ->> 'status', '') not in ('queued', 'running', 'completed') then
      raise exception 'p_targets[%].status must be queued, running or completed', v_at using errcode = '22023';
    end if;
    seen := v_target - 'id';
    v_at := v_at + 1;
    return next;
  end loop;
end
$queuetop$;

-- What was seen is still so. A key that was left out is not compared.
create function {schema}.operator_fence_holds(p_job {schema}.jobs, p_seen jsonb) returns boolean
language sql stable
as $queuetop$
  select (not p_seen ? 'status' or p_job.status = p_seen ->> 'status')
    and (not p_seen ? 'attempts' or p_job.attempts = (p_seen ->> 'attempts')::integer)
    and (not p_seen ? 'priority' or p_job.priority = (p_seen ->> 'priority')::integer)
    and (not p_seen ? 'locked_by' or p_job.locked_by is not distinct from (p_seen ->> 'locked_by')::uuid)
    and (not p_seen ? 'run_at' or p_job.run_at = (p_seen ->> 'run_at')::timestamptz)
    and (not p_seen ? 'lease_until'
      or p_job.lease_until is not distinct from (p_seen ->> 'lease_until')::timestamptz)
$queuetop$;

-- Why an action makes no sense for a job in this state; null when it does. The whole table of rules.
create function {schema}.operator_refusal(p_action text, p_state text, p_force boolean, p_attempts integer)
returns text
language sql immutable
as $queuetop$
  select case
    when p_state = 'completed' then 'completed jobs stay as they are'
    when p_action = 'requeue' and p_attempts = 2147483647 then 'attempts are at the largest number there is'
    when p_action = 'requeue' and p_state = 'ready' then 'already ready'
    when p_action in ('requeue', 'dead_letter') and p_state = 'running' and not p_force
      then 'its lease has not run out; only by force'
    when p_action = 'reap' and p_state <> 'expired' then 'only expired jobs are reaped'
    when p_action = 'reschedule' and p_state = 'exhausted' then 'no attempts left: requeue it'
    when p_action = 'reschedule' and p_state in ('running', 'expired') then 'only waiting jobs are rescheduled'
  end
$queuetop$;

-- Locks the jobs and dead letters with these ids and names those it could not get. Rows locked by
-- others are asked for again for a second. Nothing waits inside a lock, so operators can never
-- deadlock with workers.
create function {schema}.operator_lock(p_ids uuid[]) returns uuid[]
language plpgsql
as $queuetop$
declare
  v_deadline timestamptz := clock_timestamp() + interval '1 second';
  v_jobs uuid[] := p_ids;
  v_dead uuid[] := p_ids;
  v_got uuid[];
begin
  loop
    v_got := array(select j.id from {schema}.jobs j where j.id = any(v_jobs) for update skip locked);
    v_jobs := array(
      select j.id from {schema}.jobs j where j.id = any(v_jobs) except select unnest(v_got));
    v_got := array(
      select d.id from {schema}.dead_letter_jobs d where d.id = any(v_dead) for update skip locked);
    v_dead := array(
      select d.id from {schema}.dead_letter_jobs d where d.id = any(v_dead) except select unnest(v_got));
    if v_jobs = '{}' and v_dead = '{}' or clock_timestamp() > v_deadline then
      return v_jobs || v_dead;
    end if;
    perform pg_sleep(0.02);
  end loop;
end
$queuetop$;

create function {schema}.operator_check_distinct(p_ids uuid[]) returns void
language plpgsql immutable
as $queuetop$
begin
  if (select count(distinct u.id) from unnest(p_ids) u (id)) < cardinality(p_ids) then
    raise exception 'p_targets names a job twice' using errcode = '22023';
  end if;
end
$queuetop$;

-- Locks the targets and decides about each. The answer is an array of
-- {ordinal, id, outcome, state_now, detail, before}; outcome is null where the action may go ahead.
-- (UTC here and below: records are compared as JSON, so their times must not depend on the session.)
create function {schema}.operator_look(p_action text, p_targets jsonb, p_force boolean) returns jsonb
language plpgsql security definer set search_path = pg_catalog, pg_temp set timezone = 'UTC'
as $queuetop$
#variable_conflict use_column
declare
  v_ids uuid[] := array(select t.id from {schema}.operator_targets(p_targets) t);
  v_locked uuid[];
begin
  perform {schema}.operator_check_distinct(v_ids);
  v_locked := {schema}.operator_lock(v_ids);
  return (
    select coalesce(jsonb_agg(jsonb_build_object(
      'ordinal', looked.ordinal, 'id', looked.id, 'outcome', looked.outcome,
      'state_now', looked.state_now, 'before', looked.before,
      'detail', case when looked.outcome = 'refused' then looked.refusal
                     when looked.outcome = 'changed' and looked.state_now = 'dead' then 'it is a dead letter now'
                     when looked.outcome = 'locked' then 'somebody else is changing it' end
    ) order by looked.ordinal), '[]')
    from (
      select
        judged.*,
        case
          when judged.locked then 'locked'
          when judged.before is null and judged.state_now = 'dead' then 'changed'
          when judged.before is null then 'gone'
          when not judged.held then 'changed'
          when judged.refusal is not null then 'refused'
        end as outcome
      from (
        select
          t.ordinal, t.id, s.state_now,
          t.id = any(v_locked) as locked,
          {schema}.operator_fence_holds(j, t.seen) as held,
          case when j.id is not null then {schema}.job_record(j) end as before,
          {schema}.operator_refusal(p_action, s.state_now, p_force, j.attempts) as refusal
        from {schema}.operator_targets(p_targets) t
        left join {schema}.jobs j on j.id = t.id
        left join {schema}.dead_letter_jobs d on d.id = t.id
        cross join lateral (
          select case
            when j.id is not null
              then {schema}.job_state(j.status, j.run_at, j.attempts, j.max_attempts, j.lease_until)
            when d.id is not null then 'dead'
            else 'gone'
          end as state_now
        ) s
      ) judged
    ) looked
  );
end
$queuetop$;

-- The ids that an action may go ahead with.
create function {schema}.operator_chosen(p_looked jsonb) returns uuid[]
language sql immutable
as $queuetop$
  select coalesce(array_agg((l.value ->> 'id')::uuid), '{}')
  from pg_catalog.jsonb_array_elements(p_looked) l
  where l.value ->> 'outcome' is null
$queuetop$;

-- Reads the chosen rows again, writes the audit row and answers for each target.
create function {schema}.operator_finish(
  p_action text, p_looked jsonb, p_reason text, p_arguments jsonb
)
returns table (id uuid, outcome text, state_now text, detail text)
language plpgsql security definer set search_path = pg_catalog, pg_temp set timezone = 'UTC'
as $queuetop$
#variable_conflict use_column
declare
  v_rows jsonb;
begin
  select coalesce(jsonb_agg(
    case when l.value ->> 'outcome' is not null then l.value
    else l.value || jsonb_build_object(
      'outcome', 'done',
      'state_now', case
        when j.id is not null
          then {schema}.job_state(j.status, j.run_at, j.attempts, j.max_attempts, j.lease_until)
        when d.id is not null then 'dead'
        else 'gone'
      end,
      'after', case when j.id is not null then {schema}.job_record(j) end
    ) end
    order by l.ordinality), '[]')
  into v_rows
  from jsonb_array_elements(p_looked) with ordinality l
  left join {schema}.jobs j on j.id = (l.value ->> 'id')::uuid
  left join {schema}.dead_letter_jobs d on d.id = (l.value ->> 'id')::uuid;

  perform {schema}.operator_record(p_action, v_rows, p_reason, p_arguments);
  return query
    select r.id, r.outcome, r.state_now, r.detail
    from jsonb_to_recordset(v_rows) r (ordinal integer, id uuid, outcome text, state_now text, detail text)
    order by r.ordinal;
end
$queuetop$;

-- Who did it: the login (session user), the role put on by SET ROLE, and behind PostgREST the
-- subject of the verified token.
create function {schema}.operator_record(p_action text, p_rows jsonb, p_reason text, p_arguments jsonb)
returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $queuetop$
declare
  v_id bigint;
  v_subject text;
begin
  begin
    v_subject := coalesce(
      nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub',
      nullif(current_setting('request.jwt.claim.sub', true), '')
    );
  exception when others then
    v_subject := null; -- not JSON: some other program's setting
  end;
  insert into {schema}.operator_actions (
    action, session_user_name, role_name, jwt_subject, client_addr, application_name,
    reason, arguments, ids, outcome, rows
  )
  values (
    p_action, session_user, nullif(current_setting('role'), 'none'), left(v_subject, 200),
    inet_client_addr(), current_setting('application_name'),
    left(p_reason, 1000), p_arguments,
    array(select (r.value ->> 'id')::uuid from jsonb_array_elements(p_rows) r),
    (select coalesce(jsonb_object_agg(c.outcome, c.count), '{}')
     from (select r.value ->> 'outcome' as outcome, count(*) from jsonb_array_elements(p_rows) r group by 1) c),
    p_rows
  )
  returning id into v_id;
  return v_id;
end
$queuetop$;

-- Ready now, whatever it waited for. At its limit a job gets one more attempt: attempts never goes
-- down, so max_attempts goes up. By force a running job too; its worker's calls are then refused.
create function {schema}.operator_requeue(
  p_targets jsonb, p_reason text default null, p_force boolean default false
)
returns table (id uuid, outcome text, state_now text, detail text)
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $queuetop$
#variable_conflict use_column
declare
  v_looked jsonb := {schema}.operator_look('requeue', p_targets, coalesce(p_force, false));
  v_ids uuid[] := {schema}.operator_chosen(v_looked);
begin
  perform set_config('queuetop.outcome', 'operator', true);
  update {schema}.jobs j
  set status = 'queued',
      run_at = now(),
      locked_by = null,
      lease_until = null,
      max_attempts = greatest(j.max_attempts, j.attempts + 1),
      updated_at = now()
  where j.id = any(v_ids);
  perform set_config('queuetop.outcome', '', true);
  return query select * from {schema}.operator_finish(
    'requeue', v_looked, p_reason, jsonb_build_object('force', coalesce(p_force, false)));
end
$queuetop$;

create function {schema}.operator_dead_letter(
  p_targets jsonb, p_reason text default null, p_force boolean default false
)
returns table (id uuid, outcome text, state_now text, detail text)
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $queuetop$
#variable_conflict use_column
declare
  v_looked jsonb := {schema}.operator_look('dead_letter', p_targets, coalesce(p_force, false));
  v_ids uuid[] := {schema}.operator_chosen(v_looked);
begin
  perform set_config('queuetop.outcome', 'operator', true);
  perform {schema}.move_rows_to_dead_letter(
    v_ids, null, concat_ws(': ', 'operator', left(nullif(p_reason, ''), 1000)));
  perform set_config('queuetop.outcome', '', true);
  return query select * from {schema}.operator_finish(
    'dead_letter', v_looked, p_reason, jsonb_build_object('force', coalesce(p_force, false)));
end
$queuetop$;

-- What the reaper would do, now and for these jobs: back to the queue, or dead on the last attempt.
create function {schema}.operator_reap(p_targets jsonb, p_reason text default null)
returns table (id uuid, outcome text, state_now text, detail text)
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $queuetop$
#variable_conflict use_column
declare
  v_looked jsonb := {schema}.operator_look('reap', p_targets, false);
  v_ids uuid[] := {schema}.operator_chosen(v_looked);
begin
  perform {schema}.reap_rows(v_ids);
  return query select * from {schema}.operator_finish('reap', v_looked, p_reason, '{}');
end
$queuetop$;

-- When a waiting job runs next; 'infinity' parks it.
create function {schema}.operator_reschedule(
  p_targets jsonb, p_run_at timestamptz, p_reason text default null
)
returns table (id uuid, outcome text, state_now text, detail text)
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $queuetop$
#variable_conflict use_column
declare
  v_looked jsonb;
  v_ids uuid[];
begin
  perform {schema}.check_given('p_run_at', p_run_at is null);
  v_looked := {schema}.operator_look('reschedule', p_targets, false);
  v_ids := {schema}.operator_chosen(v_looked);
  update {schema}.jobs j
  set run_at = p_run_at, updated_at = now()
  where j.id = any(v_ids);
  return query select * from {schema}.operator_finish(
    'reschedule', v_looked, p_reason, jsonb_build_object('run_at', p_run_at));
end
$queuetop$;

-- Also of a running job, for its next attempt; its updated_at stays, as that is its last heartbeat.
create function {schema}.operator_set_priority(
  p_targets jsonb, p_priority integer, p_reason text default null
)
returns table (id uuid, outcome text, state_now text, detail text)
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $queuetop$
#variable_conflict use_column
declare
  v_looked jsonb;
  v_ids uuid[];
begin
  perform {schema}.check_given('p_priority', p_priority is null);
  v_looked := {schema}.operator_look('set_priority', p_targets, false);
  v_ids := {schema}.operator_chosen(v_looked);
  update {schema}.jobs j
  set priority = p_priority,
      updated_at = case when j.status = 'running' then j.updated_at else now() end
  where j.id = any(v_ids);
  return query select * from {schema}.operator_finish(
    'set_priority', v_looked, p_reason, jsonb_build_object('priority', p_priority));
end
$queuetop$;
