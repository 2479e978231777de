// What a structured answer must match: there is one that does.

export const schema = {
  type: "object",
  properties: { city: { type: "string", enum: ["Zürich"] } },
  required: ["city"],
  additionalProperties: false,
};
