create table tool_runner.sheets (
  workspace_id uuid not null,
  name text not null,
  primary key (workspace_id, name)
);

-- Only filled cells; rows and columns count from 1.
create table tool_runner.sheet_cells (
  workspace_id uuid not null,
  sheet text not null,
  row_number integer not null,
  column_number integer not null,
  value jsonb not null,
  primary key (workspace_id, sheet, row_number, column_number),
  foreign key (workspace_id, sheet) references tool_runner.sheets (workspace_id, name) on delete cascade
);
