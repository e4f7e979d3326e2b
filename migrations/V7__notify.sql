-- NOTIFY: a hint that something changed, so that a screen need not wait for its next poll. The poll stays the truth.
--
-- Channel `queuetop`, payload: the name of the schema, nothing else (several installations may share a database). At most
-- one in notify_every_ms (queue_settings, 100) for all sessions together, since notifying commits queue behind one lock;
-- so the last change of a burst goes unsaid and a listener reads once more shortly after. Off with
--   insert into queue_settings (name, value) values ('notify', 'off');

-- When the next one may be sent, in ms since 1970. A sequence: read without a lock, set without a transaction. The counters'
-- triggers (V3) look at it and call notify_changed() when it has passed.
create sequence {schema}.notify_clock minvalue 0 start 0;
select setval(format('%I.notify_clock', {schema_literal}), 0);

create function {schema}.notify_changed() returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $queuetop$
declare
  v_now bigint := floor(date_part('epoch', clock_timestamp()) * 1000);
  v_on boolean := not exists (
    select from {schema}.queue_settings s where s.name = 'notify' and s.value in ('off', 'false', 'no', '0'));
begin
  perform setval(format('%I.notify_clock', {schema_literal}),
                 v_now + case when v_on then {schema}.setting_number('notify_every_ms', 100, 10, 60000) else 1000 end);
  -- A full notification queue would make every commit fail that notifies.
  if v_on and pg_notification_queue_usage() < 0.5 then
    perform pg_notify('queuetop', {schema_literal});
  end if;
end $queuetop$;

create function {schema}.notify_queues_changed() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $queuetop$
begin
  perform {schema}.notify_changed(); -- a pause is rare: never muted
  return null;
end $queuetop$;
create trigger queues_notify after insert or update or delete on {schema}.queues
  for each statement execute function {schema}.notify_queues_changed();
