import { Link } from "@tanstack/react-router";

export function NotFound() {
  return (
    <div className="page">
      <h1>There is nothing at this address</h1>
      <p className="muted">It may have been deleted, or it is not yours to see.</p>
      <p className="gap-above">
        <Link className="btn" to="/">
          Recent runs
        </Link>
      </p>
    </div>
  );
}
