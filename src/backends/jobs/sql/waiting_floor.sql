(select w.* from {schema}.counter_deltas w where w.txid >= (select {schema}.counter_floor()))
