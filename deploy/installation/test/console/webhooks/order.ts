/** A tool with two arguments, to map to. */
export const ORDER = {
  inbound_hook: true,
  parameters: {
    type: "object",
    properties: { city: { type: "string" }, amount: { type: "number" } },
    required: ["amount"],
  },
  handler: "export default ({ city, amount }) => ({ city, amount });",
};
