-- What the server of a model needs or knows that not every server does.
alter table chat.model
  add column asks_for_usage boolean not null default false,
  add column thinks_first boolean not null default false;
