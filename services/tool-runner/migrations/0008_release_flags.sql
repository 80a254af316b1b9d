-- The flags of the release, next to the definition: reading them from a large definition would decompress all of it.
alter table tool_runner.tool_versions
  add column external_api jsonb generated always as (definition -> 'external_api') stored,
  add column async jsonb generated always as (definition -> 'async') stored;
