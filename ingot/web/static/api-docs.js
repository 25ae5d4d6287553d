/* Renders the operations of one group of the API's own description; calls go to this server only. */
(async () => {
  "use strict";
  const place = document.getElementById("swagger-ui");
  const { group, name } = place.dataset;
  const response = await fetch("/api/v4/openapi.json");
  if (!response.ok) {
    place.querySelector("[role=status]").textContent = "The parameters and responses could not be loaded. Reload the page to try again.";
    return;
  }
  const spec = await response.json();
  const inGroup = (operation) => operation.tags?.includes(group);
  spec.paths = Object.fromEntries(Object.entries(spec.paths)
    .filter(([, operations]) => Object.values(operations).some(inGroup))
    .map(([path, operations]) => [path, Object.fromEntries(Object.entries(operations)
      .filter(([, operation]) => inGroup(operation))
      .map(([method, operation]) => [method, { ...operation, tags: [name] }]))]));
  /* The viewer takes seconds for schemas that the group does not use. */
  const used = {};
  const pending = [spec.paths, spec.components.responses];
  while (pending.length) {
    for (const [, schema] of JSON.stringify(pending.pop()).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (!(schema in used)) pending.push(used[schema] = spec.components.schemas[schema]);
    }
  }
  spec.components.schemas = used;
  SwaggerUIBundle({
    spec,
    dom_id: "#swagger-ui",
    deepLinking: true,
    persistAuthorization: false,
    validatorUrl: null,
    docExpansion: "list",
    operationsSorter: "alpha",
    defaultModelsExpandDepth: -1,
  });
})();
