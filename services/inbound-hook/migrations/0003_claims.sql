-- The claim that started the run, so that a process whose claim got no response can undo it.
alter table inbound_hook.run add column claim_id uuid;
