-- What a model costs, if the workspace has said so: millionths of the currency's unit for a million tokens.
alter table chat.model
  add column currency text,
  add column input_price bigint check (input_price >= 0),
  add column output_price bigint check (output_price >= 0),
  add check ((currency is null) = (input_price is null) and (currency is null) = (output_price is null));

-- What usage cost at the prices of its time, in millionths of a millionth of the currency's unit.
create table chat.usage_cost (
  workspace_id text collate "C" not null,
  day date not null,
  model text not null,
  currency text not null,
  cost numeric(38, 0) not null,
  primary key (workspace_id, day, model, currency)
);

-- Tokens are counted by two statements, and this way their cost is in one place.
create function chat.add_usage_cost() returns trigger language plpgsql as $$
declare
  input bigint := new.input_tokens;
  output bigint := new.output_tokens;
begin
  if tg_op = 'UPDATE' then
    input := input - old.input_tokens;
    output := output - old.output_tokens;
  end if;
  insert into chat.usage_cost (workspace_id, day, model, currency, cost)
  select new.workspace_id, new.day, new.model, m.currency, input::numeric * m.input_price + output::numeric * m.output_price
  from chat.model m
  where m.workspace_id = new.workspace_id and m.name = new.model and m.currency is not null
  on conflict (workspace_id, day, model, currency) do update set cost = usage_cost.cost + excluded.cost;
  return null;
end
$$;

create trigger add_usage_cost after insert or update on chat.usage for each row execute function chat.add_usage_cost();
