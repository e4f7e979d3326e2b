-- The rest of what operators call: replay of dead letters, undo, pausing queues.

-- A dead letter without its payload, for the audit and for undo.
create function {schema}.dead_letter_record(p_dead {schema}.dead_letter_jobs) returns jsonb
language sql stable
as $queuetop$
  select pg_catalog.jsonb_build_object(
    'id', p_dead.id, 'queue', p_dead.queue, 'attempts', p_dead.attempts,
    'max_attempts', p_dead.max_attempts, 'last_error', p_dead.last_error, 'failed_at', p_dead.failed_at,
    'reason', p_dead.reason, 'replayed_at', p_dead.replayed_at,
    'replayed_job_id', p_dead.replayed_job_id, 'replays', p_dead.replays
  )
$queuetop$;

-- A new job for each dead letter, with a key of its own so that it can be made only once, and with
-- its first ancestor in replay_of. The dead letter stays and points to it. By force it is made again,
-- with the key of the second, third ... replay.
create function {schema}.operator_replay(
  p_targets jsonb, p_reason text default null, p_force boolean default false
)
returns table (id uuid, outcome text, state_now text, detail text)
language plpgsql security definer set search_path = pg_catalog, pg_temp set timezone = 'UTC'
as $queuetop$
#variable_conflict use_column
declare
  v_force boolean := coalesce(p_force, false);
  v_ids uuid[] := array(select t.id from {schema}.operator_targets(p_targets) t);
  v_chosen uuid[];
  v_locked uuid[];
  v_looked jsonb;
  v_made uuid[];
begin
  if exists (select from {schema}.operator_targets(p_targets) t where t.seen <> '{}') then
    raise exception 'p_targets of a replay hold only the id of a dead letter' using errcode = '22023';
  end if;
  perform {schema}.operator_check_distinct(v_ids);
  v_locked := {schema}.operator_lock(v_ids);
  select coalesce(jsonb_agg(jsonb_build_object(
    'ordinal', t.ordinal, 'id', t.id,
    'before', case when d.id is not null then {schema}.dead_letter_record(d) end,
    'state_now', case
      when d.id is not null then 'dead'
      when j.id is not null
        then {schema}.job_state(j.status, j.run_at, j.attempts, j.max_attempts, j.lease_until)
      else 'gone'
    end,
    'outcome', case
      when t.id = any(v_locked) then 'locked'
      when d.id is null and j.id is null then 'gone'
      when d.id is null then 'changed'
      when d.replayed_at is not null and not v_force then 'refused'
    end,
    'detail', case
      when t.id = any(v_locked) then 'somebody else is changing it'
      when d.id is null and j.id is not null then 'it is not a dead letter any more'
      when d.replayed_at is not null and not v_force then 'already replayed as job ' || d.replayed_job_id
    end
  ) order by t.ordinal), '[]')
  into v_looked
  from {schema}.operator_targets(p_targets) t
  left join {schema}.dead_letter_jobs d on d.id = t.id
  left join {schema}.jobs j on j.id = t.id;

  v_chosen := {schema}.operator_chosen(v_looked);
  with wanted as (
    select d.*, 'replay:' || d.id || case when d.replays > 0 then ':' || d.replays + 1 else '' end as key
    from {schema}.dead_letter_jobs d
    where d.id = any(v_chosen)
  ), made as (
    insert into {schema}.jobs as j (
      id, queue, payload, priority, max_attempts, idempotency_key, replay_of, origin_key
    )
    select
      gen_random_uuid(), w.queue, w.payload, coalesce(w.priority, 0), greatest(w.max_attempts, 1), w.key,
      coalesce(w.replay_of, w.id), coalesce(w.origin_key, w.idempotency_key)
    from wanted w
    order by w.queue, w.key
    on conflict (queue, idempotency_key) where idempotency_key is not null do nothing
    returning j.id, j.queue, j.idempotency_key
  ), noted as (
    update {schema}.dead_letter_jobs d
    set replayed_at = now(), replayed_job_id = m.id, replays = d.replays + 1
    from wanted w
    join made m on m.queue = w.queue and m.idempotency_key = w.key
    where d.id = w.id
    returning d.id
  )
  select array_agg(n.id) into v_made from noted n;

  -- What could not be made has its key taken by a job that somebody made by hand.
  select coalesce(jsonb_agg(case
    when l.value ->> 'outcome' is not null then l.value
    when d.id is null then l.value || jsonb_build_object(
      'outcome', 'refused', 'detail', 'another job has the idempotency key of this replay')
    else l.value || jsonb_build_object(
      'outcome', 'done', 'after', {schema}.dead_letter_record(d), 'made', {schema}.job_record(j),
      'detail', 'replayed as job ' || j.id)
    end order by l.ordinality), '[]')
  into v_looked
  from jsonb_array_elements(v_looked) with ordinality l
  left join unnest(v_made) m (id) on m.id = (l.value ->> 'id')::uuid
  left join {schema}.dead_letter_jobs d on d.id = m.id
  left join {schema}.jobs j on j.id = d.replayed_job_id;
  return query select * from {schema}.operator_finish(
    'replay', v_looked, p_reason, jsonb_build_object('force', v_force));
end
$queuetop$;

-- Puts back what one action changed, row by row, where the row is still as the action left it:
--   changed in place   the row gets its former values
--   dead-lettered      the job comes back under its old id, unless it was replayed or its key is taken
--   replayed           the new job goes away, unless somebody has claimed or changed it
-- The answer has the rows that the action had done; the others were never changed.
create function {schema}.operator_undo(p_action bigint, p_reason text default null)
returns table (id uuid, outcome text, state_now text, detail text)
language plpgsql security definer set search_path = pg_catalog, pg_temp set timezone = 'UTC'
as $queuetop$
#variable_conflict use_column
declare
  v_action {schema}.operator_actions;
  v_looked jsonb;
  v_chosen uuid[];
  v_undo bigint;
begin
  perform {schema}.check_given('p_action', p_action is null);
  select * into v_action from {schema}.operator_actions a where a.id = p_action;
  if not found then
    raise exception 'p_action: there is no action %', p_action using errcode = '22023';
  elsif v_action.action in ('undo', 'pause', 'resume') then
    raise exception 'p_action: action % is of the kind % and cannot be undone', p_action, v_action.action
      using errcode = '22023';
  end if;
  v_looked := {schema}.operator_look_undo(v_action);
  v_chosen := {schema}.operator_chosen(v_looked);

  if v_action.action = 'replay' then
    delete from {schema}.jobs j
    where j.id = any(array(
      select (l.value -> 'made' ->> 'id')::uuid
      from jsonb_array_elements(v_looked) l
      where (l.value ->> 'id')::uuid = any(v_chosen)
    ));
    update {schema}.dead_letter_jobs d
    set replayed_at = b.replayed_at, replayed_job_id = b.replayed_job_id, replays = b.replays
    from jsonb_array_elements(v_looked) l
    cross join jsonb_populate_record(null::{schema}.dead_letter_jobs, l.value -> 'restore') b
    where d.id = any(v_chosen) and d.id = b.id;
  else
    begin
      perform {schema}.operator_restore(v_looked, v_chosen);
    exception when unique_violation then
      raise exception 'a job took the idempotency key of one of these just now: nothing was undone, call again'
        using errcode = '40001';
    end;
    -- The attempt goes on: it has not ended without success. One that was already refused stays told.
    delete from {schema}.job_failures f
    where f.job_id = any(v_chosen) and f.ended_at = v_action.acted_at
      and f.outcome in ('operator', 'expired');
  end if;

  return query select * from {schema}.operator_finish(
    'undo', v_looked, p_reason, jsonb_build_object('action', p_action));
  select max(a.id) into v_undo from {schema}.operator_actions a
  where a.action = 'undo' and a.arguments ->> 'action' = p_action::text and a.acted_at = now();
  update {schema}.operator_actions a set undone_by = v_undo where a.id = p_action;
end
$queuetop$;

-- Locks what an undo needs and decides about each row that the action had done.
create function {schema}.operator_look_undo(p_action {schema}.operator_actions) returns jsonb
language plpgsql security definer set search_path = pg_catalog, pg_temp set timezone = 'UTC'
as $queuetop$
declare
  v_replay boolean := p_action.action = 'replay';
  v_locked uuid[];
begin
  v_locked := {schema}.operator_lock(array(
    select (r.value ->> 'id')::uuid from jsonb_array_elements(p_action.rows) r
    where r.value ->> 'outcome' = 'done'
    union
    select (r.value -> 'made' ->> 'id')::uuid from jsonb_array_elements(p_action.rows) r
    where r.value ->> 'outcome' = 'done' and r.value -> 'made' is not null
  ));
  return (
    select coalesce(jsonb_agg(jsonb_build_object(
      'ordinal', l.ordinal, 'id', l.id, 'restore', l.before, 'before', l.after, 'made', l.made,
      'state_now', l.state_now,
      'outcome', case
        when l.locked then 'locked'
        when l.taken_by is not null then 'refused'
        when not l.still_so then case l.state_now when 'gone' then 'gone' else 'changed' end
      end,
      'detail', case
        when l.locked then 'somebody else is changing it'
        when l.taken_by is not null then 'job ' || l.taken_by || ' has its idempotency key now'
        when not l.still_so and l.replayed_as is not null then 'replayed as job ' || l.replayed_as
        when not l.still_so then 'it has changed since'
      end
    ) order by l.ordinal), '[]')
    from (
      select
        r.ordinal, r.id, r.before, r.after, r.made, k.id as taken_by,
        r.id = any(v_locked) or (r.made ->> 'id')::uuid = any(v_locked) is true as locked,
        case when j.id is null and not v_replay then d.replayed_job_id end as replayed_as,
        case
          when j.id is not null
            then {schema}.job_state(j.status, j.run_at, j.attempts, j.max_attempts, j.lease_until)
          when d.id is not null then 'dead'
          else 'gone'
        end as state_now,
        case
          when v_replay then coalesce(
            {schema}.dead_letter_record(d) = r.after and {schema}.job_record(m) = r.made, false)
          when r.after is not null then coalesce({schema}.job_record(j) = r.after, false)
          else j.id is null and d.failed_at is not distinct from p_action.acted_at and d.replayed_at is null
        end as still_so
      from jsonb_to_recordset(p_action.rows)
        r (ordinal integer, id uuid, outcome text, before jsonb, after jsonb, made jsonb)
      left join {schema}.jobs j on j.id = r.id
      left join {schema}.jobs m on m.id = (r.made ->> 'id')::uuid
      left join {schema}.dead_letter_jobs d on d.id = r.id
      left join {schema}.jobs k
        on r.after is null and j.id is null
        and k.queue = d.queue and k.idempotency_key = d.idempotency_key
      where r.outcome = 'done'
    ) l
  );
end
$queuetop$;

-- Gives rows their former values; dead letters become jobs again under their old id.
create function {schema}.operator_restore(p_looked jsonb, p_chosen uuid[]) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $queuetop$
begin
  update {schema}.jobs j
  set status = b.status, priority = b.priority, run_at = b.run_at, max_attempts = b.max_attempts,
      locked_by = b.locked_by, lease_until = b.lease_until, last_error = b.last_error,
      updated_at = b.updated_at, claimed_at = b.claimed_at
  from jsonb_array_elements(p_looked) l
  cross join jsonb_populate_record(null::{schema}.jobs, l.value -> 'restore') b
  where j.id = any(p_chosen) and j.id = b.id;

  with back as (
    delete from {schema}.dead_letter_jobs d
    where d.id = any(p_chosen)
    returning d.*
  )
  insert into {schema}.jobs (
    id, queue, payload, status, priority, run_at, attempts, max_attempts, locked_by, lease_until,
    last_error, idempotency_key, created_at, updated_at, completed_at, claimed_at, replay_of, origin_key
  )
  select
    b.id, b.queue, back.payload, b.status, b.priority, b.run_at, b.attempts, b.max_attempts, b.locked_by,
    b.lease_until, b.last_error, b.idempotency_key, b.created_at, b.updated_at, b.completed_at,
    b.claimed_at, b.replay_of, b.origin_key
  from back
  join jsonb_array_elements(p_looked) l on (l.value ->> 'id')::uuid = back.id
  cross join jsonb_populate_record(null::{schema}.jobs, l.value -> 'restore') b;
end
$queuetop$;

-- Claims of a paused queue come back empty; jobs already running go on. True when that changed
-- anything.
create function {schema}.operator_set_paused(p_queue text, p_paused boolean, p_reason text) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $queuetop$
declare
  v_changed boolean;
begin
  perform {schema}.check_queue('p_queue', p_queue, null);
  insert into {schema}.queues as q (queue, paused, changed_by, reason)
  select p_queue, p_paused, session_user, left(p_reason, 1000)
  where p_paused or exists (select from {schema}.queues there where there.queue = p_queue)
  on conflict (queue) do update
  set paused = excluded.paused, changed_by = excluded.changed_by, changed_at = now(), reason = excluded.reason
  where q.paused <> excluded.paused;
  v_changed := found;
  perform {schema}.operator_record(
    case when p_paused then 'pause' else 'resume' end, '[]', p_reason,
    jsonb_build_object('queue', p_queue, 'changed', v_changed));
  return v_changed;
end
$queuetop$;

create function {schema}.pause_queue(p_queue text, p_reason text default null) returns boolean
language sql security definer set search_path = pg_catalog, pg_temp
as $queuetop$
  select {schema}.operator_set_paused(p_queue, true, p_reason)
$queuetop$;

create function {schema}.resume_queue(p_queue text, p_reason text default null) returns boolean
language sql security definer set search_path = pg_catalog, pg_temp
as $queuetop$
  select {schema}.operator_set_paused(p_queue, false, p_reason)
$queuetop$;
