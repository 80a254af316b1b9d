/** Intl and dates. */
export const LANGUAGES: readonly string[] = [
  "for (;;) new Intl.DateTimeFormat('en', { timeZone: 'Europe/Berlin' })",
  "new Intl.Segmenter('th', { granularity: 'word' }).segment('\\u0e01'.repeat(2 ** 24)).containing(2 ** 23)",
  "[...new Intl.Segmenter('ja', { granularity: 'word' }).segment('\\u65e5\\u672c'.repeat(1e6))]",
  "new Intl.ListFormat('en').format(Array(5e6).fill('x'.repeat(50)))",
  "new Intl.NumberFormat('en').format(10n ** 4_000_000n)",
  "new Intl.Collator('de').compare('\\u00e4'.repeat(2 ** 26), '\\u00e4'.repeat(2 ** 26) + 'a')",
  "'\\u0130'.repeat(2 ** 25).toLocaleLowerCase('tr')",
  "Date.parse('1 '.repeat(2 ** 27))",
  "new Date('x'.repeat(2 ** 28))",
  "const all = []; for (;;) all.push(new Intl.NumberFormat('en'))",
  "const all = []; for (;;) all.push(new Intl.Segmenter('en').segment('x'.repeat(1e5)))",
  "for (;;) Intl.supportedValuesOf('timeZone')",
  "for (;;) new Date(2 ** 40).toLocaleString('ar-u-ca-islamic', { dateStyle: 'full' })",
  "new Intl.RelativeTimeFormat('en').formatToParts(1e300, 'day'); for (;;) new Intl.DisplayNames('en', { type: 'region' })",
  "Array(1e6).fill('\\u00e4b').sort(new Intl.Collator('de').compare)",
];
