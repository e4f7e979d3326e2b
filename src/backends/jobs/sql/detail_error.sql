left join lateral (
  select octet_length(j.last_error)::text || ' ' || md5(left(j.last_error, {chars})) as stamp offset 0
) es on j.last_error is not null
left join lateral (
  select left(j.last_error, {chars}) as text, octet_length(j.last_error)::bigint as bytes,
         octet_length(left(j.last_error, {chars})) < octet_length(j.last_error) as more
  where es.stamp is distinct from $3
) e on j.last_error is not null
