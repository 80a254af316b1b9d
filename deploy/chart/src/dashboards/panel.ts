/** One line or number of a panel. */
export interface Query {
  /** PromQL with `$namespace` in its selectors, and `$__rate_interval` as the range of rates. */
  readonly expr: string;
  /** May have `{{label}}`. */
  readonly legend: string;
}

export interface Panel {
  readonly title: string;
  /** A unit of Grafana, such as `s`, `reqps` or `percentunit`. */
  readonly unit: string;
  readonly queries: readonly Query[];
  readonly description?: string;
}

/** Panels under a heading. */
export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

export interface Dashboard {
  /** The name of its file, and its identity in Grafana. */
  readonly name: string;
  readonly title: string;
  readonly rows: readonly Row[];
}

const COLUMNS = 24;
const HEIGHT = 8;
const PER_LINE = 3;
const DATASOURCE = { type: "prometheus", uid: "$datasource" };

/** A dashboard as Grafana imports it. */
export function grafanaModel({ name, title, rows }: Dashboard): object {
  let y = 0;
  let id = 0;
  const panels: object[] = [];
  for (const row of rows) {
    panels.push({
      id: ++id,
      type: "row",
      title: row.title,
      collapsed: false,
      panels: [],
      gridPos: grid(0, y, COLUMNS, 1),
    });
    y += 1;
    const perLine = Math.min(PER_LINE, row.panels.length);
    const width = COLUMNS / perLine;
    for (const [index, panel] of row.panels.entries()) {
      if (index > 0 && index % perLine === 0) y += HEIGHT;
      panels.push({ id: ++id, gridPos: grid((index % perLine) * width, y, width, HEIGHT), ...timeSeries(panel) });
    }
    y += HEIGHT;
  }
  return {
    uid: `toolgate-${name}`,
    title: `Toolgate: ${title}`,
    tags: ["toolgate"],
    schemaVersion: 39,
    version: 1,
    editable: true,
    refresh: "30s",
    time: { from: "now-6h", to: "now" },
    links: [{ type: "dashboards", title: "Toolgate", tags: ["toolgate"], asDropdown: true, keepTime: true }],
    templating: {
      list: [
        { name: "datasource", type: "datasource", query: "prometheus", label: "Data source" },
        {
          name: "namespace",
          type: "query",
          label: "Namespace",
          datasource: DATASOURCE,
          query: "label_values(toolgate_postgres_connections, namespace)",
          refresh: 2,
        },
      ],
    },
    panels,
  };
}

const grid = (x: number, y: number, w: number, h: number) => ({ x, y, w, h });

function timeSeries({ title, unit, queries, description }: Panel): object {
  return {
    type: "timeseries",
    title,
    ...(description && { description }),
    datasource: DATASOURCE,
    fieldConfig: { defaults: { unit, min: 0, custom: { fillOpacity: 10, showPoints: "never" } }, overrides: [] },
    options: { legend: { displayMode: "list", placement: "bottom" }, tooltip: { mode: "multi", sort: "desc" } },
    targets: queries.map(({ expr, legend }, index) => ({
      refId: String.fromCharCode("A".charCodeAt(0) + index),
      datasource: DATASOURCE,
      expr,
      legendFormat: legend,
    })),
  };
}
