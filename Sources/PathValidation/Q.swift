#if NIO
import X509
import CertificatePinning
public struct Q {}
#endif
