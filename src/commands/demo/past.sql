-- The demo's past: what would be there if it had run for the last 45 minutes. Everything is done by the queue's own functions;
-- then times are moved back, and the minutes that the counters would have kept are written. {rate} and {seed} are filled in.
select setseed({seed});

do $$
declare
  v_worker uuid := gen_random_uuid();
  v_dying uuid := gen_random_uuid();
  v_job public.jobs;
  v_error text;
begin
  -- The dependency of webhooks has been down for a while: attempt after attempt fails.
  for v_attempt in 1..4 loop
    for v_job in select * from public.claim_jobs('webhooks', v_worker, case v_attempt when 4 then 60 else 200 end) loop
      v_error := case floor(random() * 10)
        when 0 then 'TLS handshake with "hooks-' || ceil(random() * 8) || '.example.net" failed: unexpected end of file'
        when 1 then 'TLS handshake with "hooks-' || ceil(random() * 8) || '.example.net" failed: unexpected end of file'
        when 2 then format('connect to 10.0.%s.%s:443: connection timed out after 5%s ms', v_attempt, ceil(random() * 250), lpad(floor(random() * 50)::text, 3, '0'))
        when 3 then format('connect to 10.0.%s.%s:443: connection timed out after 5%s ms', v_attempt, ceil(random() * 250), lpad(floor(random() * 50)::text, 3, '0'))
        when 4 then format('connect to 10.0.%s.%s:443: connection timed out after 5%s ms', v_attempt, ceil(random() * 250), lpad(floor(random() * 50)::text, 3, '0'))
        else '503 Service Unavailable from hooks.example.net (request ' || gen_random_uuid() || ')'
      end;
      if random() < 0.05 then
        perform public.complete_job(v_job.id, v_worker, v_job.attempts);
      elsif random() < 0.03 then
        perform public.move_to_dead_letter(
          v_job.id, v_worker, format('410 Gone: endpoint %s was deleted by its owner', ceil(random() * 9000)), v_job.attempts);
      else
        perform public.retry_job(v_job.id, v_worker, v_error, '2 seconds', v_job.attempts);
      end if;
    end loop;
    update public.jobs set run_at = now() where queue = 'webhooks' and status = 'queued';
  end loop;
  update public.jobs set run_at = now() + random() * interval '40 seconds' where queue = 'webhooks' and status = 'queued';

  -- A few letters that can never be delivered.
  for v_job in select * from public.claim_jobs('emails', v_worker, 5) loop
    perform public.move_to_dead_letter(
      v_job.id, v_worker, format('550 5.1.1 <user%s@example.com>: mailbox unavailable', ceil(random() * 9000)), v_job.attempts);
  end loop;

  -- Workers of thumbnails died, were reaped, and died again.
  for v_attempt in 1..3 loop
    perform public.claim_jobs('thumbnails', v_dying, 7, '1 second');
    update public.jobs set lease_until = now() - interval '1 second' where queue = 'thumbnails' and status = 'running';
    perform public.reap_expired_jobs(100, 'thumbnails');
  end loop;
  perform public.claim_jobs('thumbnails', v_dying, 4, '5 seconds');
  perform public.worker_seen(v_dying, 'thumbnails-0', 'demo', 4242, '0.0.1');
  update public.workers set started_at = now() - interval '9 minutes', last_seen = now() - interval '40 seconds';

  perform public.pause_queue('newsletter', 'the new template is not approved yet');
end $$;

-- Back in time, later attempts after earlier ones.
update public.job_failures
set ended_at = now() - (6 - least(attempt, 5)) * interval '50 seconds' + random() * interval '45 seconds';
update public.job_failures set began_at = ended_at - (0.2 + 3 * random()) * interval '1 second';
update public.dead_letter_jobs d
set failed_at = f.at, original_created_at = f.at - (5 + 15 * random()) * interval '1 minute'
from (select job_id, max(ended_at) as at from public.job_failures group by job_id) f
where f.job_id = d.id;
update public.jobs set created_at = least(run_at, now()) - random() * interval '2 seconds';
update public.operator_actions set acted_at = now() - interval '38 minutes';
update public.queues set changed_at = now() - interval '38 minutes';

-- What was counted by the above all at once never happened in this minute.
delete from public.counter_deltas;
delete from public.queue_history;

insert into public.history_minutes
select date_trunc('minute', now()) - m * interval '1 minute' from generate_series(1, 45) m
on conflict do nothing;

with minutes as (
  select m, date_trunc('minute', now()) - m * interval '1 minute' as minute,
         m <= 4 as down -- since then the dependency of webhooks does not answer
  from generate_series(1, 45) m
), inflow (queue, a_minute) as (
  values ('emails', 480.0), ('reports', 72.0), ('webhooks', 120.0), ('thumbnails', 90.0), ('invoices', 96.0), ('newsletter', 0.4)
), happened as (
  select i.queue, t.*, i.a_minute * {rate} * (0.85 + 0.3 * random()) as came
  from inflow i cross join minutes t
)
insert into public.queue_history (minute, queue, enqueued, claimed, claims, completed, retried, expired, dead, ready, scheduled, running)
select minute, queue, round(came), round(done + again), ceil((done + again) / 3), round(done), round(again),
       case queue when 'thumbnails' then floor(random() * 9) else 0 end,
       round(died), ready, scheduled, running
from (
  select h.*,
    case queue when 'newsletter' then 0 when 'webhooks' then came * case when down then 0.35 else 0.98 end
      when 'invoices' then came * 0.97 else came end as done,
    case queue when 'webhooks' then came * case when down then 0.9 else 0.02 end else came * 0.02 end as again,
    case queue when 'webhooks' then came * case when down and m < 4 then 0.18 else 0.01 end when 'emails' then floor(random() * 1.3) else 0 end as died,
    case queue when 'invoices' then 90 - m when 'newsletter' then 12 when 'emails' then floor(random() * 4)
      when 'reports' then floor(random() * 12) else floor(random() * 3) end as ready,
    case queue when 'reports' then 30 + floor(random() * 10) when 'webhooks' then case when down then 40 else 1 end else 0 end as scheduled,
    case queue when 'emails' then 3 when 'reports' then 3 when 'webhooks' then 2 when 'thumbnails' then 4 when 'invoices' then 1 else 0 end as running
  from happened h
) as story;
