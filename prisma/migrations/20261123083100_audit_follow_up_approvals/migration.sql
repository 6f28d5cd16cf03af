-- Decisions about follow-ups have audit entries like those about runs.
CREATE TRIGGER audit_approval AFTER UPDATE ON follow_ups
  FOR EACH ROW WHEN (OLD.approval IS DISTINCT FROM NEW.approval) EXECUTE FUNCTION audit_approval('follow_up');
