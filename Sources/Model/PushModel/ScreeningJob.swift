/// The jobs of `pushfarm screen`, whose purpose is to find bad tokens: they are known by their ids.
package enum ScreeningJob {
    package static let prefix = "screen-"

    package static func isScreening(_ job: String) -> Bool { job.hasPrefix(prefix) }
}
