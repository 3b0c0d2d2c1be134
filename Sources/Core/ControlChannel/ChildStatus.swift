/// Exit statuses by which a child says more than that it has ended.
package enum ChildStatus {
    /// The child does not understand what its coordinator says.
    package static let broken: Int32 = 70
    /// The child found that its coordinator is not the owner it takes itself for. It ended in order, accuses nothing that
    /// it had in hand, and is to be started again at once.
    package static let fenced: Int32 = 75
}
