import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/controls.css";
import "./styles/parts.css";
import "./frame/frame.css";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { router } from "./router.tsx";
import { observeAnswers } from "./server/client.ts";
import { followRuns } from "./server/live.ts";
import { VISITOR } from "./server/page.ts";
import { queries } from "./server/queries.ts";
import { noteAnswer } from "./server/trouble.ts";

document.documentElement.dataset.theme = localStorage.getItem("errand.theme") ?? "";

observeAnswers(noteAnswer);

// A guest sees one run, and reads its own event stream.
if (VISITOR === "member") {
  followRuns(queries);
}

const root = document.getElementById("root");
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  );
}
