-- What a list of tools shows, next to the definition for the same reason as the flags of the release.
alter table tool_runner.tool_versions
  add column summary jsonb not null generated always as (
    definition - '{handler,api,query,parameters,external_api_description,external_api_response,args_fixture}'::text[]
  ) stored,
  add column kind text not null generated always as (
    case when definition ? 'handler' then 'handler' when definition ? 'api' then 'api' else 'query' end
  ) stored;
