-- What a release hangs on, beside the definition: reading it there would unpack all of a large one.
alter table tool_runner.tool_versions
  add column external_api jsonb generated always as (definition -> 'external_api') stored,
  add column async jsonb generated always as (definition -> 'async') stored;
