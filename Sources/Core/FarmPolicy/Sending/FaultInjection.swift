/// A fault that a test injects into a component to prove that the component's simulation detects the fault. Release builds
/// contain no faults.
package struct FaultInjection<Fault: Equatable & Sendable>: Sendable {
    #if FAILPOINTS
        @usableFromInline let fault: Fault?

        @inlinable package init(_ fault: Fault? = nil) { self.fault = fault }

        @inlinable package func has(_ fault: Fault) -> Bool { self.fault == fault }
    #else
        @inlinable package init(_ fault: Fault? = nil) {}

        @inlinable package func has(_ fault: Fault) -> Bool { false }
    #endif
}
