/** The id of the form of a new run. */
export const FORM = "errand_request";
/** The message shortcut that opens it. */
export const SEND = "errand_send";
/** The button of the Home tab that opens it. */
export const NEW_RUN = "errand_new_run";
