cross join lateral (select pg_column_size(j.payload)::text as stamp offset 0) ps
left join lateral (
  select left(x.t, {chars}) as text, octet_length(x.t)::bigint as bytes,
         octet_length(left(x.t, {chars})) < octet_length(x.t) as more
  from (select j.payload::text as t where ps.stamp is distinct from $2 or pg_column_size(j.payload) < 2000 offset 0) x
) p on true
