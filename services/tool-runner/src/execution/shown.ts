/** Arguments or the result of a run as its log and its event may show them; worked out when first asked for. */
export interface Shown {
  /** Length of the JSON text before anything was taken out of it. */
  characters: number;
  value: () => unknown;
}

export function shownOf(json: string, show: (value: unknown) => unknown): Shown {
  let kept: { value: unknown } | undefined;
  return {
    characters: json.length,
    value: () => {
      kept ??= { value: show(JSON.parse(json)) };
      return kept.value;
    },
  };
}
