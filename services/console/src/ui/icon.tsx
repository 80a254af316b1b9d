/** Outlines on a grid of 16, by name. */
const PATHS = {
  ok: "M3.5 8.5l3 3 6-7",
  bad: "M4.5 4.5l7 7M11.5 4.5l-7 7",
  warn: "M8 2.5l6 10.5H2zM8 6.5v3M8 11.4v.2",
  off: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM4 12l8-8",
  wait: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 5v3.2l2 1.3",
  info: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 7.5v3.3M8 5.2v.2",
  copy: "M6 6h7v7H6zM3 10V3h7",
  close: "M4 4l8 8M12 4l-8 8",
  search: "M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.5 10.5L14 14",
  menu: "M2 4h12M2 8h12M2 12h12",
  key: "M10.5 8.5a3 3 0 1 0-2.6-1.6L2.5 12.3V14H5v-1.5h1.5V11l1.9-1.9",
  tool: "M9.5 6.5L3 13M8 4.5a3.5 3.5 0 0 0 4.6 4.4L14 7.5 11.5 7 9 4.5 8.5 2 7 3.4",
  pen: "M3 13l.8-3.3L11 2.5 13.5 5l-7.2 7.2z",
  run: "M5 3l7 5-7 5z",
  endpoint: "M3 8h9M8.5 4.5L12 8l-3.5 3.5M2 3v10",
  hook: "M13 8H4M7.5 4.5L4 8l3.5 3.5M14 3v10",
  list: "M5.5 4H14M5.5 8H14M5.5 12H14M2.5 4h.2M2.5 8h.2M2.5 12h.2",
  inbox: "M2.5 9.5L4 3.5h8l1.5 6v3h-11zM2.5 9.5h3l1 1.5h3l1-1.5h3",
  book: "M3 3h6a2 2 0 0 1 2 2v8H5a2 2 0 0 1-2-2zM11 5h2v8",
  audit: "M8 2l5 2v4c0 3-2 5-5 6-3-1-5-3-5-6V4z",
  braces:
    "M6 2.5c-2 0-2 1-2 2.5s0 3-2 3c2 0 2 1.5 2 3s0 2.5 2 2.5M10 2.5c2 0 2 1 2 2.5s0 3 2 3c-2 0-2 1.5-2 3s0 2.5-2 2.5",
  lock: "M4 7.5h8V13H4zM5.5 7.5V5.5a2.5 2.5 0 0 1 5 0v2",
  database: "M3 4.5c0-2.6 10-2.6 10 0s-10 2.6-10 0v7c0 2.6 10 2.6 10 0v-7M3 8c0 2.6 10 2.6 10 0",
  sheet: "M2.5 3h11v10h-11zM2.5 6.5h11M2.5 9.8h11M6.5 3v10",
  overview: "M2.5 8L8 3l5.5 5M4.5 7v6h7V7",
  people:
    "M6 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM1.5 13c0-2.3 2-3.5 4.5-3.5s4.5 1.2 4.5 3.5M10.5 3.3a2.4 2.4 0 0 1 0 4.4M12 9.7c1.5.4 2.5 1.6 2.5 3.3",
  settings:
    "M2.5 4.5h6M12 4.5h1.5M2.5 11.5H4M7.5 11.5h6M10.2 6.2a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4zM5.8 13.2a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4z",
  assistant: "M3.5 6h9v7h-9zM8 6V3M6 9v1M10 9v1",
  model: "M4.5 4.5h7v7h-7zM6.5 2v2.5M9.5 2v2.5M6.5 11.5V14M9.5 11.5V14M2 6.5h2.5M2 9.5h2.5M11.5 6.5H14M11.5 9.5H14",
  bars: "M3 13V8M8 13V3M13 13V6",
  chat: "M3 3h10v7H7.5L5 12.5V10H3z",
  more: "M3.5 8h.2M8 8h.2M12.5 8h.2",
  chevron: "M6 4l4 4-4 4",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg
      width="16"
      height="16"
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      aria-hidden="true"
    >
      <path d={PATHS[name]} strokeLinecap="round" strokeLinejoin="round" />
    </svg>
  );
}
