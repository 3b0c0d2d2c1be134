/// Bits and sizes of the batch format, version 1. All numbers are big-endian.
///
///     body    := version u8 | segments u16 | table(segment)* | segment*
///     table   := tokens u16 | flags u8 | idLength u8 | job id
///     segment := optionsLength u16 | options | payloadLength u32 | payload | push*
///     options := attempt u8 | maxAttempts u8 | priority u8 | pushType u8 | receipts u8 | flags u8
///                | expiration i64 | deadline i64 | registeredAt i64
///                | causeLength u8 | cause | collapseLength u8 | collapse id | topicLength u8 | topic
///     push    := tokenLength u8 | token [ | payloadLength u32 | payload ]
///
/// A number whose flag says that it is absent is 0. With one payload a push, the segment's own is
/// empty. Redis reads the table and nothing else.
enum BatchLayout {
    static let version: UInt8 = 1
    /// Of the table's flags.
    static let tableAtMostOnce: UInt8 = 1

    static let payloadPerPush: UInt8 = 1 << 0
    static let hasExpiration: UInt8 = 1 << 1
    static let hasDeadline: UInt8 = 1 << 2
    static let hasRegisteredAt: UInt8 = 1 << 3
    static let atMostOnce: UInt8 = 1 << 4
    static let knownFlags: UInt8 = 0b1_1111

}
