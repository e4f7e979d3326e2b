-- What the counters and the history cost a worker. Measured on a completion (38 us for the bare UPDATE):
--
--   two row triggers with a WHEN: 35 us, though neither did anything. Their conditions are prepared anew by every statement,
--   and one of them being BEFORE UPDATE, each row was locked, and that logged, before it was changed
--   the counting itself: 42 us, most of it to set up a plan that sorts and sums one row
--
-- So one statement trigger does all that an UPDATE of jobs needs, and of plpgsql it has as little as it can: each expression is
-- prepared anew in every transaction.

drop trigger jobs_record_failure on {schema}.jobs;
drop trigger jobs_note_claim on {schema}.jobs;
drop function {schema}.note_claim();

-- How an attempt ended that did not complete. Our functions say it through a setting that is local to their transaction and cleared
-- at once; a plain statement leaves it empty, and then it follows from the row. `became` is its status now, `dead` or `deleted`.
create function {schema}.attempt_outcome(became text, lease_until timestamptz, error_before text, error_after text) returns text
language sql volatile as $queuetop$
  select case
    -- the operator only said what was so already
    when said.word = 'operator' and coalesce(lease_until < clock_timestamp(), true) then 'expired'
    when said.word in ('failed', 'expired', 'operator') then said.word
    when became = 'deleted' then 'operator'
    when became = 'running' then 'expired'
    when error_after is distinct from error_before then 'failed'
    when coalesce(lease_until < clock_timestamp(), true) then 'expired'
    else 'failed' end
  from (select pg_catalog.current_setting('queuetop.outcome', true) as word) as said
$queuetop$;

-- Its error: what stands on the row, or in words how it ended, where nobody wrote a new one.
create function {schema}.attempt_error(outcome text, error_before text, error_after text) returns text
language sql immutable as $queuetop$
  select case when outcome = 'failed' or error_after is distinct from error_before then error_after
              when outcome = 'expired' then 'lease expired' else 'taken away by an operator' end
$queuetop$;

-- As before, but only for rows that are removed: count_jobs_updated() does it for those that are changed.
create or replace function {schema}.record_failure() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $queuetop$
#variable_conflict use_column
declare
  v_became text := 'deleted';
  v_error text := old.last_error;
  v_outcome text;
  v_dead {schema}.dead_letter_jobs;
begin
  select * into v_dead from {schema}.dead_letter_jobs d where d.id = old.id;
  if found then
    v_became := 'dead';
    v_error := v_dead.last_error;
    -- A plain statement moves only the columns it knows of: save what a replay will need.
    if v_dead.reason is null then
      update {schema}.dead_letter_jobs d
      set priority = coalesce(d.priority, old.priority),
          idempotency_key = coalesce(d.idempotency_key, old.idempotency_key),
          replay_of = coalesce(d.replay_of, old.replay_of),
          origin_key = coalesce(d.origin_key, old.origin_key),
          reason = case when old.attempts >= old.max_attempts then 'exhausted' else 'permanent' end
      where d.id = old.id;
    end if;
  end if;
  if old.status <> 'running' then
    return null; -- no attempt was under way
  end if;
  v_outcome := {schema}.attempt_outcome(v_became, old.lease_until, old.last_error, v_error);
  v_error := {schema}.attempt_error(v_outcome, old.last_error, v_error);
  insert into {schema}.job_failures (
    job_id, queue, attempt, max_attempts, worker, began_at, ended_at, outcome, became, error, signature
  )
  values (
    old.id, old.queue, old.attempts, old.max_attempts, old.locked_by, old.claimed_at, now(),
    v_outcome, v_became, left(v_error, 8000), {schema}.error_signature(v_error)
  );
  return null;
end
$queuetop$;

create or replace function {schema}.count_jobs_updated() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $queuetop$
declare
  v_at timestamptz := clock_timestamp();
  v_ended boolean;   -- an attempt may have ended without completing
  v_undated boolean; -- a plain statement may have claimed, which does not know claimed_at
begin
  -- One job completed, by far the most frequent statement: one row, no sums.
  insert into {schema}.counter_deltas (at, queue, status, attempts, max_attempts, slot, n, event, events, bucket)
  select v_at, o.queue, 'running', o.attempts, o.max_attempts, {schema}.time_slot(o.lease_until), -1, 'completed', 1,
         case when n.claimed_at <= n.completed_at then {schema}.duration_bucket(n.claimed_at, n.completed_at) end
  from old_jobs o, new_jobs n
  where o.status = 'running' and n.status = 'completed' and n.queue = o.queue and (select count(*) from new_jobs) = 1;

  if not found then
    -- Differences by union of old and new rows, not by joining them (half the cost): what stayed as it was cancels out.
    insert into {schema}.counter_deltas (at, queue, status, attempts, max_attempts, slot, bucket, n, event, events)
    select v_at, queue, status, attempts, max_attempts, slot, bucket, sum(n),
           case status when 'queued' then 'moved' when 'completed' then 'completed' end,
           case status when 'queued' then -sum(n) when 'completed' then sum(n) else 0 end
    from (select queue, status, attempts, max_attempts,
                 {schema}.time_slot(case when status = 'queued' then run_at else lease_until end) as slot,
                 case when status = 'completed' and claimed_at <= completed_at
                      then {schema}.duration_bucket(claimed_at, completed_at) end as bucket,
                 -1 as n
          from old_jobs
          union all
          select queue, status, attempts, max_attempts,
                 {schema}.time_slot(case when status = 'queued' then run_at else lease_until end),
                 case when status = 'completed' and claimed_at <= completed_at
                      then {schema}.duration_bucket(claimed_at, completed_at) end,
                 1
          from new_jobs) as rows
    group by queue, status, attempts, max_attempts, slot, bucket
    having sum(n) <> 0;
    select exists (select from old_jobs j where j.status = 'running')
             and exists (select from new_jobs j where j.status in ('queued', 'running')),
           exists (select from new_jobs j where j.status = 'running' and j.claimed_at is distinct from now())
    into v_ended, v_undated;
  end if;

  if v_ended then
    insert into {schema}.job_failures (
      job_id, queue, attempt, max_attempts, worker, began_at, ended_at, outcome, became, error, signature
    )
    select e.id, e.queue, e.attempts, e.max_attempts, e.locked_by, e.claimed_at, now(), e.outcome, e.became,
           left(e.error, 8000), {schema}.error_signature(e.error)
    from (
      select d.*, {schema}.attempt_error(d.outcome, d.last_error, d.new_error) as error
      from (
        select o.*, n.status as became, n.last_error as new_error,
               {schema}.attempt_outcome(n.status, o.lease_until, o.last_error, n.last_error) as outcome
        from old_jobs o
        join new_jobs n on n.id = o.id
        where o.status = 'running' and (n.status = 'queued' or (n.status = 'running' and n.attempts <> o.attempts))
      ) as d
    ) as e;
  end if;

  if v_undated then
    update {schema}.jobs j
    set claimed_at = now()
    from old_jobs o
    join new_jobs n on n.id = o.id
    where j.id = n.id and n.status = 'running' and n.attempts > o.attempts and n.claimed_at is not distinct from o.claimed_at;
  end if;

  if abs(date_part('epoch', v_at) * 1000 + 30000
         - pg_sequence_last_value('{schema_in_string}.notify_clock'::regclass)) >= 30000 then
    perform {schema}.notify_changed();
  end if;
  return null;
end $queuetop$;

-- The functions that are ours, and which role calls them: viewer, worker, operator, worker and
-- operator, everybody who reads, or only other functions.
create or replace function {schema}.queuetop_functions() returns table (name text, callers text[])
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
    ('recount_signatures', array['operator']),
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
    ('record_failure', '{}'), ('attempt_outcome', '{}'), ('attempt_error', '{}'), ('sign_dead_letter', '{}'),
    ('note_maintenance', '{}'), ('note_fenced', '{}'), ('move_rows_to_dead_letter', '{}'),
    ('reap_rows', '{}'), ('job_record', '{}'), ('dead_letter_record', '{}'), ('operator_targets', '{}'),
    ('operator_fence_holds', '{}'), ('operator_refusal', '{}'), ('operator_lock', '{}'), ('operator_look', '{}'),
    ('operator_chosen', '{}'), ('operator_finish', '{}'), ('operator_record', '{}'), ('operator_look_undo', '{}'),
    ('operator_restore', '{}'), ('operator_set_paused', '{}'),
    ('count_jobs_inserted', '{}'), ('count_jobs_deleted', '{}'), ('count_jobs_updated', '{}'),
    ('count_dead_letters', '{}'), ('count_failure', '{}'), ('count_truncated', '{}'),
    ('fold_deltas', '{}'), ('sample_depths', '{}'), ('notify_changed', '{}'),
    ('notify_queues_changed', '{}'),
    ('count_signatures', '{}'), ('fold_signatures', '{}'), ('count_signatures_truncated', '{}')
$queuetop$;

select {schema}.queuetop_apply_rights();
