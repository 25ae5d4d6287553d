// Renders the API's own description; "Authorize" takes a token, and calls go to this server only.
SwaggerUIBundle({
  url: "/api/v4/openapi.json",
  dom_id: "#swagger-ui",
  deepLinking: true,
  persistAuthorization: false,
  validatorUrl: null,
  filter: true,
  docExpansion: "none",
  defaultModelsExpandDepth: -1,
});
