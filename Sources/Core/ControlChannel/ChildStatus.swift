/// Exit statuses with a special meaning for the coordinator.
package enum ChildStatus {
    /// The child cannot decode the coordinator's messages.
    package static let broken: Int32 = 70
    /// Redis shows another owner than the child's coordinator. The child exited in order, so its exit counts against no job,
    /// and the coordinator must restart the child immediately.
    package static let fenced: Int32 = 75
}
