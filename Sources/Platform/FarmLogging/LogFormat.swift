/// How a log line is written.
package enum LogFormat: String, Sendable, CaseIterable {
    /// Aligned columns for people; colours on a terminal only.
    case text
    /// One JSON object a line for collectors.
    case json
}
