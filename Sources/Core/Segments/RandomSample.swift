package import PushModel

/// A random sample of a stream of elements. The length of the stream need not be known in advance. Each element is in
/// the sample with the same probability.
///
/// - Source: Vitter, "Random Sampling with a Reservoir" (1985), algorithm R.
package struct RandomSample<Element: Sendable>: Sendable {
    package private(set) var elements: [Element] = []
    /// The number of elements that were offered.
    package private(set) var offered = 0
    private let size: Int

    /// - Parameter size: the number of elements of the sample, unless fewer are offered.
    package init(size: Int) { self.size = size }

    /// Offers the next `count` elements of the stream.
    /// - Parameter element: the element at an index in 0..<`count`. The closure is called only for elements that are
    ///   chosen.
    package mutating func offer(
        _ count: Int, using random: inout SeededRandom, _ element: (Int) -> Element
    ) {
        for index in 0..<count {
            offered += 1
            if elements.count < size {
                elements.append(element(index))
            } else {
                // The high half of the product is uniform in 0..<offered, except for a bias below 2^-20.
                let place = random.next().multipliedFullWidth(by: UInt64(offered)).high
                if place < UInt64(size) { elements[Int(clamping: place)] = element(index) }
            }
        }
    }
}
